// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {EntryStore} from "./EntryStore.sol";

/// @title The core data contract
/// @notice Keeps entries, and knows neither owners nor fees. It obeys the cloud contract only; off-chain components
///         never speak to it.
contract PrismCore {
    using EntryStore for EntryStore.Entry;

    /// @notice The one contract that may change entries.
    address public immutable cloud;

    mapping(bytes32 cloudId => mapping(bytes32 dataId => EntryStore.Entry)) private _entries;

    event DataWritten(bytes32 indexed cloudId, bytes32 indexed dataId);
    event DataModified(bytes32 indexed cloudId, bytes32 indexed dataId);
    event DataDeleted(bytes32 indexed cloudId, bytes32 indexed dataId);

    /// @notice Only the cloud contract may do this.
    error OnlyCloud(address caller);
    /// @notice There is such an entry: it is to be modified, not written.
    error DataAlreadyExists(bytes32 cloudId, bytes32 dataId);
    /// @notice There is no such entry.
    error DataNotFound(bytes32 cloudId, bytes32 dataId);
    /// @notice A batch without entries.
    error EmptyBatch();
    /// @notice Not as many payloads as ids.
    error LengthMismatch(uint256 dataIds, uint256 payloads);

    modifier onlyCloud() {
        if (msg.sender != cloud) revert OnlyCloud(msg.sender);
        _;
    }

    constructor(address cloud_) {
        cloud = cloud_;
    }

    /// @notice Writes a new entry.
    /// @dev Its name has a low selector: a call is compared with the selectors in their order, 22 gas each.
    /// @return written Always true: an answer saves the caller to look for code first.
    function addEntry(bytes32 cloudId, bytes32 dataId, bytes calldata payload)
        external
        onlyCloud
        returns (bool written)
    {
        _write(cloudId, dataId, payload);
        return true;
    }

    /// @notice Replaces an entry.
    function modify(bytes32 cloudId, bytes32 dataId, bytes calldata payload) external onlyCloud {
        _modify(cloudId, dataId, payload);
    }

    /// @notice Removes an entry.
    function remove(bytes32 cloudId, bytes32 dataId) external onlyCloud {
        _remove(cloudId, dataId);
    }

    /// @notice Writes new entries: all or none.
    function writeBatch(bytes32 cloudId, bytes32[] calldata dataIds, bytes[] calldata payloads) external onlyCloud {
        _checkLengths(dataIds.length, payloads.length);
        for (uint256 i = 0; i < dataIds.length; ++i) {
            _write(cloudId, dataIds[i], payloads[i]);
        }
    }

    /// @notice Replaces entries: all or none.
    function modifyBatch(bytes32 cloudId, bytes32[] calldata dataIds, bytes[] calldata payloads) external onlyCloud {
        _checkLengths(dataIds.length, payloads.length);
        for (uint256 i = 0; i < dataIds.length; ++i) {
            _modify(cloudId, dataIds[i], payloads[i]);
        }
    }

    /// @notice Removes entries: all or none.
    function removeBatch(bytes32 cloudId, bytes32[] calldata dataIds) external onlyCloud {
        if (dataIds.length == 0) revert EmptyBatch();
        for (uint256 i = 0; i < dataIds.length; ++i) {
            _remove(cloudId, dataIds[i]);
        }
    }

    /// @notice Reads an entry.
    function read(bytes32 cloudId, bytes32 dataId) external view returns (bytes memory) {
        EntryStore.Entry storage entry = _entries[cloudId][dataId];
        if (!entry.exists()) revert DataNotFound(cloudId, dataId);
        return entry.get();
    }

    /// @notice Tells whether there is an entry; an empty payload is one.
    function has(bytes32 cloudId, bytes32 dataId) external view returns (bool) {
        return _entries[cloudId][dataId].exists();
    }

    function _write(bytes32 cloudId, bytes32 dataId, bytes calldata payload) private {
        EntryStore.Entry storage entry = _entries[cloudId][dataId];
        if (entry.exists()) revert DataAlreadyExists(cloudId, dataId);
        entry.put(0, payload);
        emit DataWritten(cloudId, dataId);
    }

    function _modify(bytes32 cloudId, bytes32 dataId, bytes calldata payload) private {
        EntryStore.Entry storage entry = _entries[cloudId][dataId];
        bytes32 head = entry.head;
        if (head == 0) revert DataNotFound(cloudId, dataId);
        entry.put(head, payload);
        emit DataModified(cloudId, dataId);
    }

    function _remove(bytes32 cloudId, bytes32 dataId) private {
        EntryStore.Entry storage entry = _entries[cloudId][dataId];
        if (!entry.exists()) revert DataNotFound(cloudId, dataId);
        entry.clear();
        emit DataDeleted(cloudId, dataId);
    }

    function _checkLengths(uint256 dataIds, uint256 payloads) private pure {
        if (dataIds != payloads) revert LengthMismatch(dataIds, payloads);
        if (dataIds == 0) revert EmptyBatch();
    }
}
