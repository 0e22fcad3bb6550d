// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @title Signatures by keys that everybody knows, for tests
/// @notice ECDSA with the nonce 1, whose point is the curve's generator: one product and one sum. It gives the key away, and so it
///         is of no use but where nothing is worth anything.
library CampaignKeys {
    /// @notice Order of secp256k1: `N - s` is the other `s` of a signature.
    uint256 internal constant N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141;
    /// @dev First coordinate of the generator; the second is even, which makes `v` 27.
    uint256 private constant X = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798;

    /// @notice Signs with a low `s`.
    function sign(uint256 key, bytes32 digest) internal pure returns (uint8 v, bytes32 r, bytes32 s) {
        uint256 value = addmod(uint256(digest), mulmod(X, key, N), N);
        bool isHigh = value > N / 2;
        return (isHigh ? 28 : 27, bytes32(X), bytes32(isHigh ? N - value : value));
    }

    /// @notice The account of a key.
    function addressOf(uint256 key) internal pure returns (address) {
        bytes32 digest = keccak256("whose key it is");
        (uint8 v, bytes32 r, bytes32 s) = sign(key, digest);
        return ecrecover(digest, v, r, s);
    }
}
