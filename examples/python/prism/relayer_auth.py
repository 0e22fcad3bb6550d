"""The three headers by which a relayer proves who calls. See docs/specification.md AUTH-1, AUTH-2, AUTH-4, AUTH-5."""

import time

from .keccak import keccak256
from .secp256k1 import address_of, sign
from .typed_data import to_hex


def write_message(timestamp: str, method: str, path: str, body: bytes) -> str:
    """The text that is signed. `path` is without host and query."""
    lines = ("Service Relayer Auth", f"Timestamp: {timestamp}", f"Method: {method}", f"Path: {path}")
    return "\n".join((*lines, f"Body: {to_hex(keccak256(body))}"))


def hash_message(message: str) -> bytes:
    """The digest of a personal message (EIP-191)."""
    data = message.encode()
    return keccak256(b"\x19Ethereum Signed Message:\n" + str(len(data)).encode() + data)


def sign_call(private_key: bytes, method: str, path: str, body: bytes) -> dict:
    """Makes the headers of one call. They are good for five minutes, and for this method, path and body alone."""
    timestamp = str(time.time_ns() // 1_000_000)
    digest = hash_message(write_message(timestamp, method, path, body))
    return {
        "X-Relayer-Address": address_of(private_key),
        "X-Relayer-Signature": to_hex(sign(private_key, digest)),
        "X-Relayer-Timestamp": timestamp,
    }
