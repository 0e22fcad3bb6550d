// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";

/// @title The credit token
/// @notice 18 decimals, with EIP-2612 permits. Credits come into being when the Exchange sells them, besides those of the
///         deployment; none are ever destroyed.
contract CreditToken is ERC20Permit {
    /// @notice The one contract that may mint.
    address public immutable exchange;

    /// @notice Only the Exchange may mint.
    error OnlyExchange(address caller);

    constructor(address exchange_, address holder, uint256 initialSupply)
        ERC20("Prism Credit", "PRISM")
        ERC20Permit("Prism Credit")
    {
        exchange = exchange_;
        if (initialSupply != 0) _mint(holder, initialSupply);
    }

    /// @notice Makes credits that the Exchange has sold.
    function mint(address to, uint256 amount) external {
        if (msg.sender != exchange) revert OnlyExchange(msg.sender);
        _mint(to, amount);
    }
}
