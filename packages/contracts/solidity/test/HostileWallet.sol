// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// @title A signer that means harm, for tests
/// @notice Its `isValidSignature` behaves badly in a way that can be chosen.
contract HostileWallet is IERC1271 {
    enum Mode {
        Approve,
        Reenter,
        BurnGas,
        ReturnBomb,
        ReturnShort,
        Revert
    }

    Mode public mode;
    address private _target;
    bytes private _call;

    /// @notice Chooses how to behave; `Reenter` makes the call given here.
    function behave(Mode mode_, address target, bytes calldata call_) external {
        (mode, _target, _call) = (mode_, target, call_);
    }

    /// @notice Calls anything, such as the credit token's `approve`.
    function execute(address target, bytes calldata data) external {
        (bool success, bytes memory result) = target.call(data);
        require(success, string(result));
    }

    /// @inheritdoc IERC1271
    /// @dev Not `view` in bytecode: the question comes as a static call, and whatever changes a state fails there.
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4 answer) {
        if (mode == Mode.Reenter) {
            (bool success,) = _target.staticcall(_call);
            return success ? IERC1271.isValidSignature.selector : bytes4(0xdeadbeef);
        }
        if (mode == Mode.Revert) revert("no");
        if (mode == Mode.BurnGas) _burn();
        answer = IERC1271.isValidSignature.selector;
        if (mode == Mode.ReturnBomb) {
            assembly ("memory-safe") {
                mstore(0, answer)
                return(0, 100000)
            }
        }
        if (mode == Mode.ReturnShort) {
            assembly ("memory-safe") {
                mstore(0, answer)
                return(0, 4)
            }
        }
    }

    function _burn() private view {
        uint256 rounds = 0;
        while (gasleft() > 0) {
            rounds += uint256(keccak256(abi.encode(rounds, address(this)))) & 1;
        }
    }
}
