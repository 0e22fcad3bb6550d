// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

/// @title Prisms, their owners and their credits
/// @notice The credits of all prisms lie in this contract: its balance is the sum of theirs, plus, within a
///         transaction, the fees not yet settled.
abstract contract PrismLedger is Ownable2Step {
    using SafeERC20 for IERC20;
    using SafeCast for uint256;

    /// @dev Owner and balance share a slot: taking a fee writes no other.
    struct Prism {
        address owner;
        uint96 balance;
        address pendingOwner;
        bool deleted;
    }

    /// @notice The credits that prisms pay with.
    IERC20 public immutable creditToken;
    /// @notice The only contract that may act for a signer.
    address public immutable forwarder;

    /// @notice Who gets the protocol fees and the rest of the relayers' fees.
    /// @dev Before the fee, so that the two share a slot: each request reads both.
    address public treasury;
    /// @notice Credits, in base units, that a request pays which puts data on the chain.
    uint96 public protocolFee;

    mapping(bytes32 cloudId => Prism) internal _prisms;
    /// @dev Taken from prisms, not yet paid out; zero at the end of each transaction.
    uint256 private transient _unsettledFees;

    event PrismFunded(bytes32 indexed cloudId, address indexed from, uint256 amount);
    event FeesChanged(uint96 protocolFee, address treasury);

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

    constructor(address owner_, IERC20 token, address forwarder_, uint96 fee, address treasury_) Ownable(owner_) {
        if (forwarder_ == address(0)) revert ZeroAddress();
        (creditToken, forwarder) = (token, forwarder_);
        _setFees(fee, treasury_);
    }

    /// @notice Changes the protocol fee and who gets it.
    function setFees(uint96 fee, address treasury_) external onlyOwner {
        _setFees(fee, treasury_);
    }

    /// @notice Adds credits of the caller to any prism.
    function fundPrism(bytes32 cloudId, uint256 amount) external {
        Prism storage prism = _find(cloudId);
        prism.balance = (prism.balance + amount).toUint96();
        emit PrismFunded(cloudId, msg.sender, amount);
        creditToken.safeTransferFrom(msg.sender, address(this), amount);
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

    function _settle(address relayer, uint256 relayerAmount) internal {
        uint256 fees = _unsettledFees;
        _unsettledFees = 0;
        // Underflow, and so a revert, if more were paid out than was taken.
        uint256 treasuryAmount = fees - relayerAmount;
        if (relayerAmount != 0) creditToken.safeTransfer(relayer, relayerAmount);
        if (treasuryAmount != 0) creditToken.safeTransfer(treasury, treasuryAmount);
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

    /// @notice Takes the fees of a request from its prism.
    function _charge(Prism storage prism, bytes32 cloudId, uint256 fees) internal {
        prism.balance = _less(prism.balance, cloudId, fees);
    }

    /// @notice What a balance is once fees are taken from it.
    function _less(uint256 balance, bytes32 cloudId, uint256 fees) internal returns (uint96) {
        if (balance < fees) revert InsufficientPrismBalance(cloudId, balance, fees);
        _unsettledFees += fees;
        return (balance - fees).toUint96();
    }

    function _setFees(uint96 fee, address treasury_) private {
        if (treasury_ == address(0)) revert ZeroAddress();
        (protocolFee, treasury) = (fee, treasury_);
        emit FeesChanged(fee, treasury_);
    }
}
