// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// @title How one entry lies in storage
/// @notice Up to 31 bytes take one slot, up to 63 two, and more the code of a contract of their own: from there on
///         200 gas a byte for code is less than the 690 a byte for slots.
/// @dev The last byte of `head` says which: 0 no entry; 1 to 64 a payload of one byte less, of which `head` holds the
///      first 31 and `tail` the rest; 255 an address in the first 20 bytes, whose code is a STOP and the payload.
library EntryStore {
    struct Entry {
        bytes32 head;
        bytes32 tail;
    }

    /// @notice Longest payload that lies in slots.
    uint256 internal constant MAX_INLINE = 63;
    /// @notice Longest payload: a contract's code has at most 24,576 bytes (EIP-170), one of which is the STOP.
    uint256 internal constant MAX_PAYLOAD = 24_575;
    uint256 private constant IN_HEAD = 31;
    uint256 private constant POINTER = 0xff;

    /// @notice The payload is too long for the chain.
    error PayloadTooLarge(uint256 length, uint256 maximum);

    /// @notice Tells whether there is an entry.
    function exists(Entry storage entry) internal view returns (bool) {
        return entry.head != 0;
    }

    /// @notice Puts a payload in the place of whatever there was.
    /// @param head The entry's head as it stands, so that no slot is read twice; zero where there is no entry.
    function put(Entry storage entry, bytes32 head, bytes calldata payload) internal {
        uint256 length = payload.length;
        if (length > MAX_PAYLOAD) revert PayloadTooLarge(length, MAX_PAYLOAD);
        bool hadTail = _usesTail(head);
        if (length > MAX_INLINE) {
            entry.head = bytes32((uint256(uint160(_deploy(payload))) << 96) | POINTER);
        } else if (length > IN_HEAD) {
            entry.head = bytes32(bytes31(payload[:IN_HEAD])) | bytes32(length + 1);
            entry.tail = bytes32(payload[IN_HEAD:]);
            return;
        } else {
            entry.head = _pad(payload) | bytes32(length + 1);
        }
        if (hadTail) entry.tail = 0;
    }

    /// @notice Takes the entry away. Code stays where it is, but nothing leads to it any more.
    function clear(Entry storage entry) internal {
        if (_usesTail(entry.head)) entry.tail = 0;
        entry.head = 0;
    }

    /// @notice Reads an entry that exists.
    function get(Entry storage entry) internal view returns (bytes memory payload) {
        bytes32 head = entry.head;
        uint256 tag = uint8(uint256(head));
        if (tag == POINTER) return _load(address(bytes20(head)));
        payload = abi.encodePacked(bytes31(head), tag - 1 > IN_HEAD ? entry.tail : bytes32(0));
        assembly ("memory-safe") {
            // Shorter than what was made: the bytes cut off are zeros, as both words are padded with them.
            mstore(payload, sub(tag, 1))
        }
    }

    /// @dev The payload and zeros, without the checks of `bytes31(payload)`; at most 31 bytes.
    function _pad(bytes calldata payload) private pure returns (bytes32 padded) {
        assembly ("memory-safe") {
            padded := and(calldataload(payload.offset), not(shr(shl(3, payload.length), not(0))))
        }
    }

    function _usesTail(bytes32 head) private pure returns (bool) {
        uint256 tag = uint8(uint256(head));
        return tag != POINTER && tag > IN_HEAD + 1;
    }

    /// @dev 11 bytes of init code that return what follows them; then a STOP, so that the payload is never executed.
    function _deploy(bytes calldata payload) private returns (address pointer) {
        bytes memory initCode = abi.encodePacked(hex"600b5981380380925939f300", payload);
        assembly ("memory-safe") {
            pointer := create(0, add(initCode, 0x20), mload(initCode))
            // The only cause left is too little gas: say it as the EVM does, without a reason.
            if iszero(pointer) { revert(0, 0) }
        }
    }

    function _load(address pointer) private view returns (bytes memory payload) {
        payload = new bytes(pointer.code.length - 1);
        assembly ("memory-safe") {
            extcodecopy(pointer, add(payload, 0x20), 1, mload(payload))
        }
    }
}
