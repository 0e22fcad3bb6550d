// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// @title A contract wallet of one key, for tests
/// @notice Approves what its owner's key has signed, and does what the owner tells it to.
contract TestWallet is IERC1271 {
    address public immutable owner;

    error OnlyOwner();

    constructor(address owner_) {
        owner = owner_;
    }

    /// @inheritdoc IERC1271
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        (address recovered,,) = ECDSA.tryRecover(digest, signature);
        return recovered == owner ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }

    /// @notice Calls anything, such as the credit token's `approve`.
    function execute(address target, bytes calldata data) external returns (bytes memory) {
        if (msg.sender != owner) revert OnlyOwner();
        (bool success, bytes memory result) = target.call(data);
        require(success, string(result));
        return result;
    }
}
