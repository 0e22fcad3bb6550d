// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {Authorization} from "./RequestTypes.sol";

/// @title Whose signature it is
/// @notice ECDSA (low `s`) for an account without code, ERC-1271 for a contract.
/// @dev A contract is asked by a static call that returns into one word and gets only so much gas: it can neither change a
///      state, nor make the Forwarder copy a large answer, nor burn what a relayer has not reckoned with.
library SignatureCheck {
    /// @notice Most gas that a contract wallet may use to check a signature.
    uint256 internal constant WALLET_GAS = 300_000;
    /// @notice What must be left before each check in a batch: a wallet's share, and what the call itself takes.
    uint256 internal constant WALLET_RESERVE = WALLET_GAS + 3_000;

    /// @notice Less gas is left than the contract wallet is to get. It says nothing about the signature.
    error InsufficientGas();

    /// @notice Tells whether `auth` holds its signer's signature over `digest`.
    /// @param reserve Gas that must be left for a contract wallet: `WALLET_RESERVE` where a check that runs out of gas
    ///        would be taken for a false signature and not undo all, else 0.
    function isSigned(Authorization calldata auth, bytes32 digest, uint256 reserve) internal view returns (bool) {
        address signer = auth.signer;
        (address recovered, ECDSA.RecoverError fault,) = ECDSA.tryRecover(digest, auth.v, auth.r, auth.s);
        if (recovered == signer && fault == ECDSA.RecoverError.NoError) return true;
        if (signer.code.length == 0) return false;
        return _askWallet(signer, digest, abi.encodePacked(auth.r, auth.s, auth.v), reserve);
    }

    function _askWallet(address wallet, bytes32 digest, bytes memory signature, uint256 reserve)
        private
        view
        returns (bool valid)
    {
        bytes memory question = abi.encodeCall(IERC1271.isValidSignature, (digest, signature));
        bytes32 expected = bytes32(IERC1271.isValidSignature.selector);
        // A call gets at most 63/64 of what is left (EIP-150): with less, an honest wallet would look like a false one.
        if (gasleft() - gasleft() / 64 < reserve) revert InsufficientGas();
        assembly ("memory-safe") {
            mstore(0, 0)
            let answered := staticcall(WALLET_GAS, wallet, add(question, 0x20), mload(question), 0, 0x20)
            valid := and(and(answered, gt(returndatasize(), 0x1f)), eq(mload(0), expected))
        }
    }
}
