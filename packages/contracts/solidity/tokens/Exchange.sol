// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {CreditToken} from "./CreditToken.sol";

/// @title Credits for stablecoins
/// @notice Sells credits at a rate that the owner sets. A buyer names the least it will take, so that a change of the rate
///         between quote and purchase cannot cost it more than it agreed to.
contract Exchange is Ownable2Step {
    using SafeERC20 for IERC20;

    /// @notice One stablecoin base unit (6 decimals) in credit base units (18 decimals) at a rate of 1.
    uint256 private constant SCALE = 10 ** (18 - 6);

    /// @notice What is paid with.
    IERC20 public immutable stablecoin;
    /// @notice What is sold.
    CreditToken public immutable creditToken;
    /// @notice Who gets the stablecoins.
    address public immutable treasury;
    /// @notice Credits for one stablecoin.
    uint256 public rate;

    event CreditsBought(address indexed buyer, uint256 stablecoinAmount, uint256 creditAmount);
    event RateChanged(uint256 rate);

    /// @notice The purchase gives less than the buyer's least.
    error SlippageExceeded(uint256 creditAmount, uint256 minCreditAmount);
    /// @notice A purchase of nothing, or a rate of 0.
    error ZeroAmount();

    constructor(address owner_, IERC20 stablecoin_, CreditToken creditToken_, address treasury_, uint256 rate_)
        Ownable(owner_)
    {
        (stablecoin, creditToken, treasury) = (stablecoin_, creditToken_, treasury_);
        _setRate(rate_);
    }

    /// @notice Buys credits for the caller, who has approved the stablecoins.
    /// @param stablecoinAmount Stablecoin base units to pay.
    /// @param minCreditAmount Least credit base units to take.
    /// @return creditAmount Credit base units bought.
    function buy(uint256 stablecoinAmount, uint256 minCreditAmount) external returns (uint256 creditAmount) {
        if (stablecoinAmount == 0) revert ZeroAmount();
        creditAmount = quote(stablecoinAmount);
        if (creditAmount < minCreditAmount) revert SlippageExceeded(creditAmount, minCreditAmount);
        emit CreditsBought(msg.sender, stablecoinAmount, creditAmount);
        stablecoin.safeTransferFrom(msg.sender, treasury, stablecoinAmount);
        creditToken.mint(msg.sender, creditAmount);
    }

    /// @notice Changes the rate.
    function setRate(uint256 rate_) external onlyOwner {
        _setRate(rate_);
    }

    /// @notice What a purchase gives at the rate of now.
    function quote(uint256 stablecoinAmount) public view returns (uint256 creditAmount) {
        return stablecoinAmount * rate * SCALE;
    }

    function _setRate(uint256 rate_) private {
        if (rate_ == 0) revert ZeroAmount();
        rate = rate_;
        emit RateChanged(rate_);
    }
}
