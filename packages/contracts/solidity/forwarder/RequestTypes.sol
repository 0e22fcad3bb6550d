// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @notice What every signed request carries besides the fields of its action.
/// @param signer The user whose EIP-712 signature this is.
/// @param relayerFee Credits, in base units, that the signer's prism pays the relayer.
/// @param timestamp Unix time of signing, in seconds; the windows are counted from it.
/// @param v Recovery value of the signature: 27 or 28 for a key; as the wallet likes for a contract.
/// @param r First half of the signature.
/// @param s Second half of the signature.
struct Authorization {
    address signer;
    uint256 relayerFee;
    uint256 timestamp;
    uint8 v;
    bytes32 r;
    bytes32 s;
}

/// @notice EIP-2612 permit of the credit token with the Forwarder as spender and `fundAmount` as value.
/// @dev All zero where the request carries none: the signer then has approved the Forwarder before.
struct Permit {
    uint256 deadline;
    uint8 v;
    bytes32 r;
    bytes32 s;
}

/// @notice What a new prism is made of.
/// @param fundAmount Credits, in base units, that the signer puts in.
/// @param relayerFundAmount Credits, in base units, that whoever submits adds from its own account.
/// @param salt Makes the new prism's id, together with the signer.
/// @param permit Lets the Forwarder pull `fundAmount`; not part of the signed struct, for it is signed by itself.
struct Creation {
    uint256 fundAmount;
    uint256 relayerFundAmount;
    bytes32 salt;
    Permit permit;
}

/// @notice One user's write in a multi-user batch: exactly what `writeDataFor` takes.
struct WriteEntry {
    bytes32 cloudId;
    bytes32 dataId;
    bytes payload;
    Authorization auth;
}

/// @notice An entry of a multi-user batch that was not written.
/// @param index Its place in the batch, from 0.
/// @param reason The ABI-encoded custom error.
struct RefusedEntry {
    uint256 index;
    bytes reason;
}
