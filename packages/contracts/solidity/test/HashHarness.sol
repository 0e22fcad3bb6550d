// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {RequestHashes as Hashes} from "../forwarder/RequestHashes.sol";
import {Authorization, Creation} from "../forwarder/RequestTypes.sol";

/// @title The Forwarder's struct hashes laid open, for tests
/// @notice Each function takes what the Forwarder's of the same name takes, and the nonce.
contract HashHarness {
    function createPrismFor(Creation calldata creation, Authorization calldata auth, uint256 nonce)
        external
        pure
        returns (bytes32)
    {
        return Hashes.createPrism(creation, auth, nonce);
    }

    function createPrismWithDataFor(
        Creation calldata creation,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        Authorization calldata auth,
        uint256 nonce
    ) external pure returns (bytes32) {
        return Hashes.createPrismWithData(creation, dataIds, payloads, auth, nonce);
    }

    function writeDataFor(
        bytes32 cloudId,
        bytes32 dataId,
        bytes calldata payload,
        Authorization calldata auth,
        uint256 nonce
    ) external pure returns (bytes32) {
        return Hashes.entryWithPayload(Hashes.WRITE_DATA, cloudId, dataId, payload, auth, nonce);
    }

    function modifyDataFor(
        bytes32 cloudId,
        bytes32 dataId,
        bytes calldata payload,
        Authorization calldata auth,
        uint256 nonce
    ) external pure returns (bytes32) {
        return Hashes.entryWithPayload(Hashes.MODIFY_DATA, cloudId, dataId, payload, auth, nonce);
    }

    function deleteDataFor(bytes32 cloudId, bytes32 dataId, Authorization calldata auth, uint256 nonce)
        external
        pure
        returns (bytes32)
    {
        return Hashes.prismAndWord(Hashes.DELETE_DATA, cloudId, dataId, auth, nonce);
    }

    function transferPrismFor(bytes32 cloudId, address newOwner, Authorization calldata auth, uint256 nonce)
        external
        pure
        returns (bytes32)
    {
        bytes32 word = bytes32(uint256(uint160(newOwner)));
        return Hashes.prismAndWord(Hashes.TRANSFER_PRISM, cloudId, word, auth, nonce);
    }

    function acceptTransferFor(bytes32 cloudId, Authorization calldata auth, uint256 nonce)
        external
        pure
        returns (bytes32)
    {
        return Hashes.prismOnly(Hashes.ACCEPT_TRANSFER, cloudId, auth, nonce);
    }

    function deletePrismFor(bytes32 cloudId, Authorization calldata auth, uint256 nonce)
        external
        pure
        returns (bytes32)
    {
        return Hashes.prismOnly(Hashes.DELETE_PRISM, cloudId, auth, nonce);
    }

    function batchWriteDataFor(
        bytes32 cloudId,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        Authorization calldata auth,
        uint256 nonce
    ) external pure returns (bytes32) {
        return Hashes.entriesWithPayloads(Hashes.BATCH_WRITE_DATA, cloudId, dataIds, payloads, auth, nonce);
    }

    function batchModifyDataFor(
        bytes32 cloudId,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        Authorization calldata auth,
        uint256 nonce
    ) external pure returns (bytes32) {
        return Hashes.entriesWithPayloads(Hashes.BATCH_MODIFY_DATA, cloudId, dataIds, payloads, auth, nonce);
    }

    function batchDeleteDataFor(
        bytes32 cloudId,
        bytes32[] calldata dataIds,
        Authorization calldata auth,
        uint256 nonce
    ) external pure returns (bytes32) {
        return Hashes.prismAndWord(Hashes.BATCH_DELETE_DATA, cloudId, Hashes.hashIds(dataIds), auth, nonce);
    }
}
