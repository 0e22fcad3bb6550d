// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A stablecoin for the devnet
/// @notice 6 decimals; anyone may mint. It has no place on a chain with value.
contract DevStablecoin is ERC20 {
    constructor() ERC20("Development Stablecoin", "DUSD") {}

    /// @inheritdoc ERC20
    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// @notice Makes stablecoins for anyone.
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}
