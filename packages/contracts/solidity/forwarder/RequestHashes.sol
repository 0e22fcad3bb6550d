// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {Authorization, Creation} from "./RequestTypes.sol";

/// @title EIP-712 struct hashes of the requests
/// @notice One struct an action; each ends in relayerFee, timestamp and the signer's nonce.
/// @dev The field order is that of docs/specification.md CHAIN-2; the TypeScript side holds the same table, and a test
///      compares the two over shared vectors. See https://eips.ethereum.org/EIPS/eip-712.
library RequestHashes {
    bytes32 internal constant CREATE_PRISM = keccak256(
        "CreatePrism(uint256 fundAmount,uint256 relayerFundAmount,bytes32 salt,uint256 relayerFee,uint256 timestamp,uint256 nonce)"
    );
    bytes32 internal constant CREATE_PRISM_WITH_DATA = keccak256(
        "CreatePrismWithData(uint256 fundAmount,uint256 relayerFundAmount,bytes32 salt,bytes32[] dataIds,bytes[] payloads,uint256 relayerFee,uint256 timestamp,uint256 nonce)"
    );
    bytes32 internal constant WRITE_DATA = keccak256(
        "WriteData(bytes32 cloudId,bytes32 dataId,bytes payload,uint256 relayerFee,uint256 timestamp,uint256 nonce)"
    );
    bytes32 internal constant MODIFY_DATA = keccak256(
        "ModifyData(bytes32 cloudId,bytes32 dataId,bytes payload,uint256 relayerFee,uint256 timestamp,uint256 nonce)"
    );
    bytes32 internal constant DELETE_DATA =
        keccak256("DeleteData(bytes32 cloudId,bytes32 dataId,uint256 relayerFee,uint256 timestamp,uint256 nonce)");
    bytes32 internal constant TRANSFER_PRISM =
        keccak256("TransferPrism(bytes32 cloudId,address newOwner,uint256 relayerFee,uint256 timestamp,uint256 nonce)");
    bytes32 internal constant ACCEPT_TRANSFER =
        keccak256("AcceptTransfer(bytes32 cloudId,uint256 relayerFee,uint256 timestamp,uint256 nonce)");
    bytes32 internal constant DELETE_PRISM =
        keccak256("DeletePrism(bytes32 cloudId,uint256 relayerFee,uint256 timestamp,uint256 nonce)");
    bytes32 internal constant BATCH_WRITE_DATA = keccak256(
        "BatchWriteData(bytes32 cloudId,bytes32[] dataIds,bytes[] payloads,uint256 relayerFee,uint256 timestamp,uint256 nonce)"
    );
    bytes32 internal constant BATCH_MODIFY_DATA = keccak256(
        "BatchModifyData(bytes32 cloudId,bytes32[] dataIds,bytes[] payloads,uint256 relayerFee,uint256 timestamp,uint256 nonce)"
    );
    bytes32 internal constant BATCH_DELETE_DATA = keccak256(
        "BatchDeleteData(bytes32 cloudId,bytes32[] dataIds,uint256 relayerFee,uint256 timestamp,uint256 nonce)"
    );

    /// @notice Hash of a CreatePrism.
    function createPrism(Creation calldata creation, Authorization calldata auth, uint256 nonce)
        internal
        pure
        returns (bytes32)
    {
        return keccak256(
            abi.encode(
                CREATE_PRISM,
                creation.fundAmount,
                creation.relayerFundAmount,
                creation.salt,
                auth.relayerFee,
                auth.timestamp,
                nonce
            )
        );
    }

    /// @notice Hash of a CreatePrismWithData.
    function createPrismWithData(
        Creation calldata creation,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        Authorization calldata auth,
        uint256 nonce
    ) internal pure returns (bytes32) {
        return keccak256(
            abi.encode(
                CREATE_PRISM_WITH_DATA,
                creation.fundAmount,
                creation.relayerFundAmount,
                creation.salt,
                hashIds(dataIds),
                hashPayloads(payloads),
                auth.relayerFee,
                auth.timestamp,
                nonce
            )
        );
    }

    /// @notice Hash of a struct of one entry with its payload: WriteData, ModifyData.
    /// @dev By hand, as each entry of a multi-user batch needs one: `abi.encode` would take three times the gas. Beyond the
    ///      free memory pointer, and nothing is kept there.
    function entryWithPayload(
        bytes32 typeHash,
        bytes32 cloudId,
        bytes32 dataId,
        bytes calldata payload,
        Authorization calldata auth,
        uint256 nonce
    ) internal pure returns (bytes32 structHash) {
        assembly ("memory-safe") {
            let free := mload(0x40)
            calldatacopy(free, payload.offset, payload.length)
            let payloadHash := keccak256(free, payload.length)
            mstore(free, typeHash)
            mstore(add(free, 0x20), cloudId)
            mstore(add(free, 0x40), dataId)
            mstore(add(free, 0x60), payloadHash)
            // relayerFee and timestamp, which follow the signer.
            calldatacopy(add(free, 0x80), add(auth, 0x20), 0x40)
            mstore(add(free, 0xc0), nonce)
            structHash := keccak256(free, 0xe0)
        }
    }

    /// @notice Hash of a struct of a prism and one word: DeleteData (the entry), TransferPrism (the new owner).
    function prismAndWord(
        bytes32 typeHash,
        bytes32 cloudId,
        bytes32 word,
        Authorization calldata auth,
        uint256 nonce
    ) internal pure returns (bytes32) {
        return keccak256(abi.encode(typeHash, cloudId, word, auth.relayerFee, auth.timestamp, nonce));
    }

    /// @notice Hash of a struct of a prism alone: AcceptTransfer, DeletePrism.
    function prismOnly(bytes32 typeHash, bytes32 cloudId, Authorization calldata auth, uint256 nonce)
        internal
        pure
        returns (bytes32)
    {
        return keccak256(abi.encode(typeHash, cloudId, auth.relayerFee, auth.timestamp, nonce));
    }

    /// @notice Hash of a struct of many entries with their payloads: BatchWriteData, BatchModifyData.
    function entriesWithPayloads(
        bytes32 typeHash,
        bytes32 cloudId,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        Authorization calldata auth,
        uint256 nonce
    ) internal pure returns (bytes32) {
        return keccak256(
            abi.encode(
                typeHash, cloudId, hashIds(dataIds), hashPayloads(payloads), auth.relayerFee, auth.timestamp, nonce
            )
        );
    }

    /// @notice EIP-712 encoding of a `bytes32[]`: the hash of its elements, one after the other.
    function hashIds(bytes32[] calldata ids) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(ids));
    }

    /// @notice EIP-712 encoding of a `bytes[]`: the hash of its elements' hashes, one after the other.
    function hashPayloads(bytes[] calldata payloads) internal pure returns (bytes32) {
        bytes32[] memory hashes = new bytes32[](payloads.length);
        for (uint256 i = 0; i < payloads.length; ++i) {
            hashes[i] = keccak256(payloads[i]);
        }
        return keccak256(abi.encodePacked(hashes));
    }
}
