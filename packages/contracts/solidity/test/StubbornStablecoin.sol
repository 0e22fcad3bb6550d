// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A stablecoin that changes no allowance from one amount to another
/// @notice Like some large ones it takes an approval only where there is none: who wants another amount must take back the first.
contract StubbornStablecoin is ERC20 {
    /// @notice The allowance is not zero, and neither is the new one.
    error AllowanceInPlace(uint256 allowance);

    constructor() ERC20("Stubborn Stablecoin", "SUSD") {}

    /// @inheritdoc ERC20
    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// @notice Makes stablecoins for anyone.
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @inheritdoc ERC20
    function approve(address spender, uint256 amount) public override returns (bool) {
        uint256 current = allowance(msg.sender, spender);
        if (current != 0 && amount != 0) revert AllowanceInPlace(current);
        return super.approve(spender, amount);
    }
}
