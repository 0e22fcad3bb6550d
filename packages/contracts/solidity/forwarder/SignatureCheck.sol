// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {Authorization} from "./RequestTypes.sol";

/// @title Whose signature it is
/// @notice ECDSA (low `s`) for an account without code, ERC-1271 for a contract.
/// @dev A contract is asked by a static call that returns into one word: it can neither change a state nor make the
///      Forwarder copy a large answer, and in a batch it gets only so much gas.
library SignatureCheck {
    /// @notice Less gas is left than the contract wallet is to get. It says nothing about the signature.
    error InsufficientGas();

    /// @notice Tells whether `auth` holds its signer's signature over `digest`.
    /// @param walletGas Most gas that a contract wallet may use; the whole of what is left where it is the maximum.
    function isSigned(Authorization calldata auth, bytes32 digest, uint256 walletGas) internal view returns (bool) {
        address signer = auth.signer;
        if (signer.code.length == 0) {
            (address recovered, ECDSA.RecoverError fault,) = ECDSA.tryRecover(digest, auth.v, auth.r, auth.s);
            return fault == ECDSA.RecoverError.NoError && recovered == signer;
        }
        return _askWallet(signer, digest, abi.encodePacked(auth.r, auth.s, auth.v), walletGas);
    }

    function _askWallet(address wallet, bytes32 digest, bytes memory signature, uint256 walletGas)
        private
        view
        returns (bool valid)
    {
        bytes memory question = abi.encodeCall(IERC1271.isValidSignature, (digest, signature));
        bytes32 expected = bytes32(IERC1271.isValidSignature.selector);
        // A call gets at most 63/64 of what is left (EIP-150): with less, an honest wallet would look like a false one.
        if (walletGas != type(uint256).max && gasleft() - gasleft() / 64 < walletGas + 3_000) revert InsufficientGas();
        assembly ("memory-safe") {
            mstore(0, 0)
            let answered := staticcall(walletGas, wallet, add(question, 0x20), mload(question), 0, 0x20)
            valid := and(and(answered, gt(returndatasize(), 0x1f)), eq(mload(0), expected))
        }
    }
}
