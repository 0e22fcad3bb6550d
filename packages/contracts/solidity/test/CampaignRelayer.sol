// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title A relayer of the campaign, for tests
/// @notice Makes any call, with as much gas as it is told.
contract CampaignRelayer {
    constructor(IERC20 token, address forwarder, address cloud) {
        token.approve(forwarder, type(uint256).max);
        token.approve(cloud, type(uint256).max);
    }

    /// @notice Makes a call, whatever becomes of it.
    function act(address target, bytes calldata data, uint256 gasLimit)
        external
        returns (bool success, bytes memory answer)
    {
        return target.call{gas: gasLimit}(data);
    }
}
