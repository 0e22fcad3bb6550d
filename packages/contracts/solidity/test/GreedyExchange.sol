// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title An exchange that takes what it likes and gives what it likes
/// @notice It tells the rate that is expected of it, and keeps to neither the amount nor the least that the buyer names.
contract GreedyExchange {
    using SafeERC20 for IERC20;

    IERC20 private immutable stablecoin;
    IERC20 private immutable creditToken;
    /// @notice Credits for one stablecoin, as told.
    uint256 public immutable rate;
    uint256 private immutable takesPercent;
    uint256 private immutable givesPercent;

    constructor(IERC20 stablecoin_, IERC20 creditToken_, uint256 rate_, uint256 takes_, uint256 gives_) {
        (stablecoin, creditToken, rate) = (stablecoin_, creditToken_, rate_);
        (takesPercent, givesPercent) = (takes_, gives_);
    }

    /// @notice Takes and gives so many percent of what was agreed.
    function buy(uint256 stablecoinAmount, uint256) external returns (uint256 creditAmount) {
        creditAmount = (stablecoinAmount * rate * 10 ** (18 - 6) * givesPercent) / 100;
        stablecoin.safeTransferFrom(msg.sender, address(this), (stablecoinAmount * takesPercent) / 100);
        creditToken.safeTransfer(msg.sender, creditAmount);
    }
}
