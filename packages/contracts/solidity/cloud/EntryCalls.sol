// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {PrismCore} from "../core/PrismCore.sol";
import {Fee, IPrismCloud} from "./IPrismCloud.sol";

/// @title The calls that each written entry makes
/// @notice What Solidity's own calls do, for less than half of their gas: the payload is copied once, from calldata to
///         calldata, and nothing is allocated for a call that succeeds.
library EntryCalls {
    /// @notice `core.addEntry`; reverts with what the core reverts with.
    /// @return written What the core answers. An account without code answers nothing, and is refused.
    function addEntry(PrismCore core, bytes32 cloudId, bytes32 dataId, bytes calldata payload)
        internal
        returns (bool written)
    {
        bytes4 selector = PrismCore.addEntry.selector;
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, selector)
            mstore(add(free, 0x04), cloudId)
            mstore(add(free, 0x24), dataId)
            mstore(add(free, 0x44), 0x60)
            mstore(add(free, 0x64), payload.length)
            calldatacopy(add(free, 0x84), payload.offset, payload.length)
            // The answer replaces what stood at 0.
            mstore(0, 0)
            if iszero(call(gas(), core, 0, free, add(0x84, payload.length), 0, 0x20)) {
                returndatacopy(free, 0, returndatasize())
                revert(free, returndatasize())
            }
            written := and(gt(returndatasize(), 0x1f), eq(mload(0), 1))
            if iszero(written) { revert(0, 0) }
        }
    }

    /// @notice `cloud.writeData`; reverts with what the cloud reverts with. An account without code is refused.
    function writeData(
        IPrismCloud cloud,
        address signer,
        bytes32 cloudId,
        bytes32 dataId,
        bytes calldata payload,
        Fee memory fee
    ) internal {
        bytes4 selector = IPrismCloud.writeData.selector;
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, selector)
            mstore(add(free, 0x04), signer)
            mstore(add(free, 0x24), cloudId)
            mstore(add(free, 0x44), dataId)
            mstore(add(free, 0x64), 0x100)
            mcopy(add(free, 0x84), fee, 0x80)
            mstore(add(free, 0x104), payload.length)
            calldatacopy(add(free, 0x124), payload.offset, payload.length)
            mstore(0, 0)
            if iszero(call(gas(), cloud, 0, free, add(0x124, payload.length), 0, 0x20)) {
                returndatacopy(free, 0, returndatasize())
                revert(free, returndatasize())
            }
            if iszero(and(gt(returndatasize(), 0x1f), eq(mload(0), 1))) { revert(0, 0) }
        }
    }

    /// @notice `cloud.writeEntryOfBatch`; what it reverts with is the answer.
    /// @return written Whether the entry was written.
    /// @return fault What the call reverted with; empty where it ran out of gas, or where there is no cloud.
    function writeEntryOfBatch(
        IPrismCloud cloud,
        address signer,
        bytes32 cloudId,
        bytes32 dataId,
        bytes calldata payload,
        uint256 fees
    ) internal returns (bool written, bytes memory fault) {
        bytes4 selector = IPrismCloud.writeEntryOfBatch.selector;
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, selector)
            mstore(add(free, 0x04), signer)
            mstore(add(free, 0x24), cloudId)
            mstore(add(free, 0x44), dataId)
            mstore(add(free, 0x64), 0xa0)
            mstore(add(free, 0x84), fees)
            mstore(add(free, 0xa4), payload.length)
            calldatacopy(add(free, 0xc4), payload.offset, payload.length)
            mstore(0, 0)
            let answered := call(gas(), cloud, 0, free, add(0xc4, payload.length), 0, 0x20)
            written := and(answered, and(gt(returndatasize(), 0x1f), eq(mload(0), 1)))
            // The zero slot is the empty `bytes`.
            fault := 0x60
            if iszero(answered) {
                fault := free
                mstore(fault, returndatasize())
                returndatacopy(add(fault, 0x20), 0, returndatasize())
                mstore(0x40, add(fault, and(add(returndatasize(), 0x3f), not(0x1f))))
            }
        }
    }
}
