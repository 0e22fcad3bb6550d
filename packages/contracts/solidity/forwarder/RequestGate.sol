// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {RelayerPolicy} from "./RelayerPolicy.sol";
import {SignatureCheck} from "./SignatureCheck.sol";
import {Authorization} from "./RequestTypes.sol";

/// @title The gate that every request passes
/// @notice Window, signature and nonce: what is checked is the signer's *current* nonce, so that requests of one signer
///         run in order, each once. A request that reverts consumes no nonce.
abstract contract RequestGate is RelayerPolicy, EIP712 {
    /// @notice The nonce that the next request of a signer has to be signed with; it goes up by one a request.
    mapping(address signer => uint256) public nonces;

    /// @notice A request was carried out; each entry of a multi-user batch has an event of its own.
    /// @param digest The EIP-712 digest of the request: what the signer has signed. It names no signer, so that the two
    ///        together tell which request it was.
    /// @param signer Whose request it was.
    /// @param nonce The signer's nonce that it ran with.
    /// @param relayer Who submitted it.
    /// @param relayerFee Credits that the signer's prism paid for the relayer, its share and the treasury's together.
    event RequestExecuted(
        bytes32 indexed digest, address indexed signer, uint256 indexed nonce, address relayer, uint256 relayerFee
    );

    /// @notice An entry of a multi-user batch was not carried out: it has changed nothing and cost nothing.
    /// @param nonce The signer's nonce, which still stands, and which the digest was made with.
    /// @param reason The ABI-encoded custom error.
    event RequestRefused(
        bytes32 indexed digest, address indexed signer, uint256 indexed nonce, address relayer, bytes reason
    );

    /// @notice A signer has taken back what it had signed with a nonce.
    event NonceInvalidated(address indexed signer, uint256 indexed nonce);

    /// @notice The signature is not the signer's over this request with this nonce: altered, for another chain or
    ///         contract, or out of nonce order.
    error InvalidSignature(address signer, uint256 nonce);

    /// @notice The EIP-712 domain separator, to compare with one computed off-chain.
    function domainSeparator() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    /// @notice Takes back what the sender has signed with its current nonce, and has not been carried out: it never will be.
    function invalidateNonce() external {
        emit NonceInvalidated(msg.sender, nonces[msg.sender]++);
    }

    /// @notice Lets a request pass and consumes its nonce, or reverts.
    /// @param nonce The signer's current nonce, which the digest was made with.
    /// @param digest What the signer has to have signed.
    /// @param official Whether the sender is an official relayer.
    function _accept(Authorization calldata auth, uint256 nonce, bytes32 digest, bool official) internal {
        (uint256 age, uint256 delay) = _windows(official);
        bytes memory refusal = _checkWindow(auth.timestamp, age, delay);
        if (refusal.length == 0) refusal = _checkSignature(auth, nonce, digest, 0);
        if (refusal.length != 0) {
            assembly ("memory-safe") {
                revert(add(refusal, 0x20), mload(refusal))
            }
        }
        nonces[auth.signer] = nonce + 1;
    }

    /// @notice Why a signature does not let its request pass; empty when it does.
    /// @param reservedGas What must be left for a contract wallet's check.
    function _checkSignature(Authorization calldata auth, uint256 nonce, bytes32 digest, uint256 reservedGas)
        internal
        view
        returns (bytes memory reason)
    {
        if (!SignatureCheck.isSigned(auth, digest, reservedGas))
            reason = abi.encodeWithSelector(InvalidSignature.selector, auth.signer, nonce);
    }
}
