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

    /// @notice What became of one request; each entry of a multi-user batch has one of its own, in the batch's order.
    /// @param signer Whose request it was.
    /// @param nonce The signer's nonce that it ran with; where it failed, the one that still stands.
    /// @param action keccak-256 of the action's name, such as "WRITE_DATA_FOR", also for an entry of a batch.
    /// @param success Whether it was carried out.
    /// @param relayer Who submitted it.
    /// @param relayerFee Credits that the signer's prism paid for the relayer, its share and the treasury's together.
    /// @param reason The ABI-encoded custom error of a failed entry; empty otherwise.
    event RequestExecuted(
        address indexed signer,
        uint256 indexed nonce,
        bytes32 indexed action,
        bool success,
        address relayer,
        uint256 relayerFee,
        bytes reason
    );

    /// @notice The signature is not the signer's over this request with this nonce: altered, for another chain or
    ///         contract, or out of nonce order.
    error InvalidSignature(address signer, uint256 nonce);

    /// @notice The EIP-712 domain separator, to compare with one computed off-chain.
    function domainSeparator() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    /// @notice Lets a request pass and consumes its nonce, or reverts.
    /// @param nonce The signer's current nonce, which `structHash` was made with.
    /// @return official Whether the sender is an official relayer.
    function _accept(Authorization calldata auth, uint256 nonce, bytes32 structHash) internal returns (bool official) {
        official = isOfficialRelayer[msg.sender];
        bytes memory refusal = _refusal(auth, nonce, structHash, official, type(uint256).max);
        if (refusal.length != 0) {
            assembly ("memory-safe") {
                revert(add(refusal, 0x20), mload(refusal))
            }
        }
        nonces[auth.signer] = nonce + 1;
    }

    /// @notice Why a request may not pass; empty when it may.
    function _refusal(
        Authorization calldata auth,
        uint256 nonce,
        bytes32 structHash,
        bool official,
        uint256 walletGas
    ) internal view returns (bytes memory reason) {
        reason = _checkWindow(auth.timestamp, official);
        if (reason.length != 0) return reason;
        if (SignatureCheck.isSigned(auth, _hashTypedDataV4(structHash), walletGas)) return "";
        return abi.encodeWithSelector(InvalidSignature.selector, auth.signer, nonce);
    }
}
