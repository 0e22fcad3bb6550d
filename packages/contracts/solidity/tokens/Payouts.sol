// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title One payout a payment
/// @notice Transfers credits from a payer to a wallet, once for each mark. Whoever holds a payer's key, whatever a node has told it
///         and whatever it has forgotten: a second payout of one mark reverts.
contract Payouts is Ownable2Step {
    using SafeERC20 for IERC20;

    /// @notice What is paid out.
    IERC20 public immutable creditToken;
    /// @notice Who may pay. Others could use up marks that they see waiting to be mined.
    mapping(address payer => bool) public isPayer;
    /// @notice Who has paid a mark; zero: nobody.
    mapping(bytes32 mark => address) public payerOf;

    event Paid(bytes32 indexed mark, address indexed payer, address indexed wallet, uint256 amount);
    event PayerChanged(address indexed payer, bool isAllowed);

    /// @notice The mark has been paid.
    error AlreadyPaid(bytes32 mark, address payer);
    /// @notice The caller may not pay.
    error NotAPayer(address caller);

    constructor(address owner_, IERC20 creditToken_, address[] memory payers) Ownable(owner_) {
        creditToken = creditToken_;
        for (uint256 index = 0; index < payers.length; index++) _setPayer(payers[index], true);
    }

    /// @notice Pays a mark out of the caller's credits, which the caller has approved.
    /// @param mark keccak-256 of the payment intent id.
    /// @param wallet Who gets the credits.
    /// @param amount Credit base units.
    function pay(bytes32 mark, address wallet, uint256 amount) external {
        if (!isPayer[msg.sender]) revert NotAPayer(msg.sender);
        address payer = payerOf[mark];
        if (payer != address(0)) revert AlreadyPaid(mark, payer);
        payerOf[mark] = msg.sender;
        emit Paid(mark, msg.sender, wallet, amount);
        creditToken.safeTransferFrom(msg.sender, wallet, amount);
    }

    /// @notice Lets an address pay, or no longer.
    function setPayer(address payer, bool isAllowed) external onlyOwner {
        _setPayer(payer, isAllowed);
    }

    function _setPayer(address payer, bool isAllowed) private {
        isPayer[payer] = isAllowed;
        emit PayerChanged(payer, isAllowed);
    }
}
