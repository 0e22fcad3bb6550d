// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @notice What a request pays the relayer, and how it is shared.
/// @param relayer Who submits the request.
/// @param amount Credits, in base units, that the prism pays.
/// @param share The relayer's own part of `amount`; the rest is the treasury's.
/// @param protocol Credits that it pays the treasury besides.
struct Fee {
    address relayer;
    uint256 amount;
    uint256 share;
    uint256 protocol;
}

/// @notice What a new prism begins with, in base units of the credit token.
/// @param own Credits of the signer.
/// @param sponsored Credits of the relayer, which get back to it what is left of them when the prism is deleted.
struct Funding {
    uint256 own;
    uint256 sponsored;
}

/// @title What the Forwarder asks of the cloud contract
/// @notice Each function acts for `signer`, whose signature the Forwarder has checked, and takes its fees from the
///         prism's balance. They accrue in the cloud's ledger until somebody has them paid out.
interface IPrismCloud {
    /// @notice Creates a prism whose credits the Forwarder has moved here already.
    function createPrism(address signer, bytes32 salt, Funding calldata funding, Fee calldata fee)
        external
        returns (bytes32 cloudId);

    /// @notice Creates a prism and writes its first entries.
    function createPrismWithData(
        address signer,
        bytes32 salt,
        Funding calldata funding,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        Fee calldata fee
    ) external returns (bytes32 cloudId);

    /// @notice Writes a new entry.
    /// @return written Always true: an answer saves the caller to look for code first.
    function writeData(address signer, bytes32 cloudId, bytes32 dataId, bytes calldata payload, Fee calldata fee)
        external
        returns (bool written);

    /// @notice Replaces an entry.
    function modifyData(address signer, bytes32 cloudId, bytes32 dataId, bytes calldata payload, Fee calldata fee)
        external;

    /// @notice Removes an entry.
    function deleteData(address signer, bytes32 cloudId, bytes32 dataId, Fee calldata fee) external;

    /// @notice Offers the prism to a new owner; the zero address withdraws an offer.
    function transferPrism(address signer, bytes32 cloudId, address newOwner, Fee calldata fee) external;

    /// @notice Accepts an offered prism.
    function acceptTransfer(address signer, bytes32 cloudId, Fee calldata fee) external;

    /// @notice Ends a prism for ever, and gives what is left of its balance to its owner.
    function deletePrism(address signer, bytes32 cloudId, Fee calldata fee) external;

    /// @notice Writes new entries: all or none.
    function batchWriteData(
        address signer,
        bytes32 cloudId,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        Fee calldata fee
    ) external;

    /// @notice Replaces entries: all or none.
    function batchModifyData(
        address signer,
        bytes32 cloudId,
        bytes32[] calldata dataIds,
        bytes[] calldata payloads,
        Fee calldata fee
    ) external;

    /// @notice Removes entries: all or none.
    function batchDeleteData(address signer, bytes32 cloudId, bytes32[] calldata dataIds, Fee calldata fee) external;

    /// @notice Writes a new entry as part of a batch: `accrue` writes the fees of all down at its end.
    /// @dev Its name has a low selector: a call is compared with the selectors in their order, 22 gas each.
    /// @return written Always true: an answer saves the caller to look for code first.
    function writeEntryOfBatch(
        address signer,
        bytes32 cloudId,
        bytes32 dataId,
        bytes calldata payload,
        uint256 fees
    ) external returns (bool written);

    /// @notice Writes down what the entries of a batch have paid.
    /// @param relayer Who submitted the batch.
    /// @param relayerAmount What the relayer gets of them, in base units.
    /// @param treasuryAmount What the treasury gets.
    function accrue(address relayer, uint256 relayerAmount, uint256 treasuryAmount) external;
}
