// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title One payout a payment
/// @notice Transfers credits from a payer to a wallet, once for each payment of a frontend. Whoever holds a payer's key, whatever a
///         node has told it and whatever it has forgotten: a second payout of one payment reverts.
contract Payouts is Ownable2Step {
    using SafeERC20 for IERC20;

    /// @notice What is paid out.
    IERC20 public immutable creditToken;
    /// @notice The id of the frontend whose payments an address may pay; zero: it may pay none. Others could use up payout ids that they
    ///         see waiting to be mined.
    mapping(address payer => bytes32 frontend) public frontendOf;
    /// @notice Who has paid a payout id; zero: nobody.
    mapping(bytes32 payoutId => address) public payerOf;

    event Paid(bytes32 indexed payoutId, address indexed payer, address indexed wallet, uint256 amount);
    event PayerChanged(address indexed payer, bytes32 frontend);

    /// @notice The payout id has been paid.
    error AlreadyPaid(bytes32 payoutId, address payer);
    /// @notice The caller may not pay.
    error NotAPayer(address caller);
    /// @notice A payout of nothing would use up its payout id.
    error NothingToPay();
    /// @notice Without an owner no payer could ever be taken away.
    error OwnerNeeded();
    /// @notice Payers need a frontend.
    error NoFrontend();

    /// @param owner_ Who may change the payers.
    /// @param creditToken_ What is paid out.
    /// @param frontend The id of the frontend whose payments the payers may pay.
    /// @param payers Who may pay from the beginning.
    constructor(address owner_, IERC20 creditToken_, bytes32 frontend, address[] memory payers) Ownable(owner_) {
        if (frontend == 0) revert NoFrontend();
        creditToken = creditToken_;
        for (uint256 index = 0; index < payers.length; index++) _setPayer(payers[index], frontend);
    }

    /// @notice Pays a payment out of the caller's credits, which the caller has approved.
    /// @param payment keccak-256 of the payment intent id.
    /// @param wallet Who gets the credits.
    /// @param amount Credit base units.
    function pay(bytes32 payment, address wallet, uint256 amount) external {
        bytes32 frontend = frontendOf[msg.sender];
        if (frontend == 0) revert NotAPayer(msg.sender);
        if (amount == 0) revert NothingToPay();
        bytes32 payoutId = payoutIdOf(frontend, payment);
        address payer = payerOf[payoutId];
        if (payer != address(0)) revert AlreadyPaid(payoutId, payer);
        payerOf[payoutId] = msg.sender;
        emit Paid(payoutId, msg.sender, wallet, amount);
        creditToken.safeTransferFrom(msg.sender, wallet, amount);
    }

    /// @notice The payout id of a frontend's payment: two frontends may give their payments the same ids.
    function payoutIdOf(bytes32 frontend, bytes32 payment) public pure returns (bytes32) {
        return keccak256(abi.encode(frontend, payment));
    }

    /// @notice Lets an address pay for a frontend; for zero, no longer.
    function setPayer(address payer, bytes32 frontend) external onlyOwner {
        _setPayer(payer, frontend);
    }

    /// @notice Off.
    function renounceOwnership() public pure override {
        revert OwnerNeeded();
    }

    function _setPayer(address payer, bytes32 frontend) private {
        frontendOf[payer] = frontend;
        emit PayerChanged(payer, frontend);
    }
}
