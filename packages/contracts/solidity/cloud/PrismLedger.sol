// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Fee} from "./IPrismCloud.sol";

/// @title Prisms, their owners and their credits
/// @notice The credits of all prisms lie in this contract: its balance is the sum of theirs and of all earnings that
///         are not paid out yet. Fees are only written down with a request; a transfer each would cost more than the rest.
abstract contract PrismLedger is Ownable2Step {
    using SafeERC20 for IERC20;
    using SafeCast for uint256;

    /// @dev Owner and balance share a slot: taking a fee writes no other. So do sponsor and sponsored credits.
    struct Prism {
        address owner;
        uint96 balance;
        address pendingOwner;
        bool deleted;
        address sponsor;
        uint96 sponsored;
    }

    /// @dev What one relayer's requests have earned, in one slot: taking a fee writes it once.
    struct Earnings {
        uint128 relayer;
        uint128 treasury;
    }

    /// @notice The credits that prisms pay with.
    IERC20 public immutable creditToken;
    /// @notice The only contract that may act for a signer.
    address public immutable forwarder;

    /// @notice Who gets the protocol fees and the rest of the relayers' fees.
    address public treasury;

    mapping(bytes32 cloudId => Prism) internal _prisms;
    mapping(address relayer => Earnings) private _earnings;

    event PrismFunded(bytes32 indexed cloudId, address indexed from, uint256 amount);
    event TreasuryChanged(address treasury);
    event EarningsPaid(address indexed relayer, uint256 relayerAmount, address indexed treasury, uint256 treasuryAmount);

    /// @notice Only the Forwarder speaks for signers.
    error OnlyForwarder(address caller);
    /// @notice No such prism, or no longer.
    error PrismNotFound(bytes32 cloudId);
    /// @notice The signer does not own the prism.
    error NotPrismOwner(bytes32 cloudId, address signer);
    /// @notice The prism's balance does not cover what the request costs.
    error InsufficientPrismBalance(bytes32 cloudId, uint256 balance, uint256 required);
    /// @notice An address that must not be zero was.
    error ZeroAddress();

    modifier onlyForwarder() {
        if (msg.sender != forwarder) revert OnlyForwarder(msg.sender);
        _;
    }

    constructor(address owner_, IERC20 token, address forwarder_, address treasury_) Ownable(owner_) {
        if (forwarder_ == address(0)) revert ZeroAddress();
        (creditToken, forwarder) = (token, forwarder_);
        _setTreasury(treasury_);
    }

    /// @notice Changes who gets the protocol fees and the rest of the relayers' fees.
    function setTreasury(address treasury_) external onlyOwner {
        _setTreasury(treasury_);
    }

    /// @notice Adds credits of the caller to any prism.
    /// @dev A balance only falls between two of these calls: here is the one place where what is left of the sponsor's
    ///      credits has to be kept apart from what others add, so that its sponsor never gets these.
    function fundPrism(bytes32 cloudId, uint256 amount) external {
        Prism storage prism = _find(cloudId);
        uint96 balance = prism.balance;
        if (prism.sponsored > balance) prism.sponsored = balance;
        prism.balance = (balance + amount).toUint96();
        emit PrismFunded(cloudId, msg.sender, amount);
        creditToken.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @notice Pays out what a relayer's requests have earned: its part to the relayer, the rest to the treasury.
    /// @dev Anyone may ask for it, the treasury above all: nobody but the two gets anything.
    function payOutEarnings(address relayer) external {
        Earnings memory earned = _earnings[relayer];
        delete _earnings[relayer];
        emit EarningsPaid(relayer, earned.relayer, treasury, earned.treasury);
        if (earned.relayer != 0) creditToken.safeTransfer(relayer, earned.relayer);
        if (earned.treasury != 0) creditToken.safeTransfer(treasury, earned.treasury);
    }

    /// @notice What a relayer's requests have earned since it was last paid out, in base units.
    /// @return relayerAmount The relayer's, sponsored credits that came back included.
    /// @return treasuryAmount The treasury's.
    function earningsOf(address relayer) external view returns (uint256 relayerAmount, uint256 treasuryAmount) {
        Earnings storage earned = _earnings[relayer];
        return (earned.relayer, earned.treasury);
    }

    /// @notice Who sponsored a prism, and the most that it gets back of it; both zero where nobody did.
    function sponsorOf(bytes32 cloudId) external view returns (address sponsor, uint256 sponsored) {
        Prism storage prism = _prisms[cloudId];
        return (prism.sponsor, prism.sponsored);
    }

    /// @notice What is known of a prism; all zero for one that never was.
    function prisms(bytes32 cloudId)
        external
        view
        returns (address owner, address pendingOwner, uint256 balance, bool deleted)
    {
        Prism storage prism = _prisms[cloudId];
        return (prism.owner, prism.pendingOwner, prism.balance, prism.deleted);
    }

    /// @notice Finds a prism that lives.
    function _find(bytes32 cloudId) internal view returns (Prism storage prism) {
        prism = _prisms[cloudId];
        if (prism.owner == address(0)) revert PrismNotFound(cloudId);
    }

    /// @notice Finds a prism that lives and is the signer's.
    function _findOwned(bytes32 cloudId, address signer) internal view returns (Prism storage prism) {
        prism = _find(cloudId);
        if (prism.owner != signer) revert NotPrismOwner(cloudId, signer);
    }

    /// @notice Takes a request's fees from the prism of its signer, and writes them down as earned.
    function _charge(bytes32 cloudId, address signer, Fee calldata fee)
        internal
        returns (Prism storage prism)
    {
        prism = _spend(cloudId, signer, fee.amount + fee.protocol);
        _earnFee(fee);
    }

    /// @notice Takes fees from the prism of a signer.
    /// @dev Reads and writes the slot of owner and balance once; each further read of it would cost 100 gas.
    function _spend(bytes32 cloudId, address signer, uint256 fees) internal returns (Prism storage prism) {
        prism = _prisms[cloudId];
        uint256 word;
        assembly ("memory-safe") {
            word := sload(prism.slot)
        }
        address owner_ = address(uint160(word));
        if (owner_ == address(0)) revert PrismNotFound(cloudId);
        if (owner_ != signer) revert NotPrismOwner(cloudId, signer);
        uint256 balance = word >> 160;
        if (balance < fees) revert InsufficientPrismBalance(cloudId, balance, fees);
        // Not below zero, as the balance covers the fees.
        unchecked {
            word -= fees << 160;
        }
        assembly ("memory-safe") {
            sstore(prism.slot, word)
        }
    }

    /// @notice What a balance is once fees are taken from it.
    function _less(uint256 balance, bytes32 cloudId, uint256 fees) internal pure returns (uint96) {
        if (balance < fees) revert InsufficientPrismBalance(cloudId, balance, fees);
        return (balance - fees).toUint96();
    }

    /// @notice Writes a request's fees down as earned.
    /// @dev Underflow, and so a revert, if the relayer were to get more than was taken.
    function _earnFee(Fee calldata fee) internal {
        uint256 fees = fee.amount + fee.protocol;
        if (fees != 0) _earn(fee.relayer, fee.share, fees - fee.share);
    }

    /// @notice Writes down what is to be paid out to a relayer and to the treasury.
    function _earn(address relayer, uint256 relayerAmount, uint256 treasuryAmount) internal {
        Earnings storage earned = _earnings[relayer];
        (uint128 own, uint128 rest) = (earned.relayer, earned.treasury);
        (earned.relayer, earned.treasury) = (own + relayerAmount.toUint128(), rest + treasuryAmount.toUint128());
    }

    function _setTreasury(address treasury_) private {
        if (treasury_ == address(0)) revert ZeroAddress();
        treasury = treasury_;
        emit TreasuryChanged(treasury_);
    }
}
