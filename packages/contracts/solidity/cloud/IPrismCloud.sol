// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @title What the Forwarder asks of the cloud contract
/// @notice Each function acts for `signer`, whose signature the Forwarder has checked, and takes its fees from the
///         prism's balance. They stay with the cloud until `settle`, which ends the transaction.
interface IPrismCloud {
    /// @notice Creates a prism whose credits the Forwarder has moved here already.
    function createPrism(address signer, bytes32 salt, uint256 funds, uint256 relayerFee)
        external
        returns (bytes32 cloudId);

    /// @notice Creates a prism and writes its first entries.
    function createPrismWithData(
        address signer,
        bytes32 salt,
        uint256 funds,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        uint256 relayerFee
    ) external returns (bytes32 cloudId);

    /// @notice Writes a new entry.
    function writeData(address signer, bytes32 cloudId, bytes32 dataId, bytes calldata payload, uint256 relayerFee)
        external;

    /// @notice Replaces an entry.
    function modifyData(address signer, bytes32 cloudId, bytes32 dataId, bytes calldata payload, uint256 relayerFee)
        external;

    /// @notice Removes an entry.
    function deleteData(address signer, bytes32 cloudId, bytes32 dataId, uint256 relayerFee) external;

    /// @notice Offers the prism to a new owner; the zero address withdraws an offer.
    function transferPrism(address signer, bytes32 cloudId, address newOwner, uint256 relayerFee) external;

    /// @notice Accepts an offered prism.
    function acceptTransfer(address signer, bytes32 cloudId, uint256 relayerFee) external;

    /// @notice Ends a prism for ever, and gives what is left of its balance to its owner.
    function deletePrism(address signer, bytes32 cloudId, uint256 relayerFee) external;

    /// @notice Writes new entries: all or none.
    function batchWriteData(
        address signer,
        bytes32 cloudId,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        uint256 relayerFee
    ) external;

    /// @notice Replaces entries: all or none.
    function batchModifyData(
        address signer,
        bytes32 cloudId,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        uint256 relayerFee
    ) external;

    /// @notice Removes entries: all or none.
    function batchDeleteData(address signer, bytes32 cloudId, bytes32[] calldata dataIds, uint256 relayerFee) external;

    /// @notice Pays out the fees taken since the last settlement.
    /// @param relayer Who gets `relayerAmount`; the rest goes to the treasury.
    function settle(address relayer, uint256 relayerAmount) external;
}
