// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title An exchange that has `buy` and nothing else
/// @notice It tells neither a rate nor a quote, and sells credits that it holds.
contract BareExchange {
    using SafeERC20 for IERC20;

    IERC20 private immutable stablecoin;
    IERC20 private immutable creditToken;
    uint256 private immutable rate;

    /// @notice The purchase gives less than the buyer's least.
    error TooLittle(uint256 creditAmount);

    constructor(IERC20 stablecoin_, IERC20 creditToken_, uint256 rate_) {
        (stablecoin, creditToken, rate) = (stablecoin_, creditToken_, rate_);
    }

    /// @notice Buys credits for the caller, who has approved the stablecoins.
    function buy(uint256 stablecoinAmount, uint256 minCreditAmount) external returns (uint256 creditAmount) {
        creditAmount = stablecoinAmount * rate * 10 ** (18 - 6);
        if (creditAmount < minCreditAmount) revert TooLittle(creditAmount);
        stablecoin.safeTransferFrom(msg.sender, address(this), stablecoinAmount);
        creditToken.safeTransfer(msg.sender, creditAmount);
    }
}
