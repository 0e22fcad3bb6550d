"""Signatures on the curve secp256k1, as Ethereum has them: deterministic (RFC 6979), low s, 65 bytes r ‖ s ‖ v.

This is clear rather than fast, and its timing depends on the key. Use a maintained library for keys that hold value.
"""

import hashlib
import hmac

from .keccak import keccak256

PRIME = 2**256 - 2**32 - 977
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
BASE = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)
# Points are (x, y); None is the point at infinity. Between, they are in Jacobian form (x / z², y / z³).
Point = tuple[int, int] | None


def _double(point):
    x, y, z = point
    square = y * y % PRIME
    s, m = 4 * x * square % PRIME, 3 * x * x % PRIME
    x3 = (m * m - 2 * s) % PRIME
    return x3, (m * (s - x3) - 8 * square * square) % PRIME, 2 * y * z % PRIME


def _add(one, other):
    if one[2] == 0:
        return other
    if other[2] == 0:
        return one
    (x1, y1, z1), (x2, y2, z2) = one, other
    u1, u2 = x1 * z2 * z2 % PRIME, x2 * z1 * z1 % PRIME
    s1, s2 = y1 * z2**3 % PRIME, y2 * z1**3 % PRIME
    if u1 == u2:
        return _double(one) if s1 == s2 else (1, 1, 0)
    h, r = u2 - u1, s2 - s1
    x3 = (r * r - h**3 - 2 * u1 * h * h) % PRIME
    return x3, (r * (u1 * h * h - x3) - s1 * h**3) % PRIME, h * z1 * z2 % PRIME


def _multiply(scalar: int, point: tuple[int, int]):
    total, power = (1, 1, 0), (*point, 1)
    while scalar:
        if scalar & 1:
            total = _add(total, power)
        power, scalar = _double(power), scalar >> 1
    return total


def _flatten(point) -> Point:
    x, y, z = point
    if z == 0:
        return None
    inverse = pow(z, -1, PRIME)
    return x * inverse**2 % PRIME, y * inverse**3 % PRIME


def _address_of(point: Point) -> str:
    """The last 20 bytes of the hash of the public key, with the checksum of EIP-55 in its letters' case."""
    if point is None:
        raise ValueError("a signature that no key can have made")
    digits = keccak256(point[0].to_bytes(32, "big") + point[1].to_bytes(32, "big"))[12:].hex()
    marks = keccak256(digits.encode()).hex()
    return "0x" + "".join(d.upper() if int(mark, 16) > 7 else d for d, mark in zip(digits, marks))


def address_of(private_key: bytes) -> str:
    """The address of a private key of 32 bytes."""
    return _address_of(_flatten(_multiply(int.from_bytes(private_key, "big"), BASE)))


def _nonces(private_key: bytes, digest: bytes):
    """The candidates for the secret number of a signature (RFC 6979, section 3.2, with SHA-256)."""
    reduced = (int.from_bytes(digest, "big") % ORDER).to_bytes(32, "big")
    key, value = bytes(32), b"\x01" * 32
    for separator in (b"\x00", b"\x01"):
        key = hmac.digest(key, value + separator + private_key + reduced, hashlib.sha256)
        value = hmac.digest(key, value, hashlib.sha256)
    while True:
        value = hmac.digest(key, value, hashlib.sha256)
        candidate = int.from_bytes(value, "big")
        if 0 < candidate < ORDER:
            yield candidate
        key = hmac.digest(key, value + b"\x00", hashlib.sha256)
        value = hmac.digest(key, value, hashlib.sha256)


def sign(private_key: bytes, digest: bytes) -> bytes:
    """Signs 32 bytes. The result is r, s and v (27 or 28), 65 bytes in all."""
    secret, message = int.from_bytes(private_key, "big"), int.from_bytes(digest, "big")
    for nonce in _nonces(private_key, digest):
        point = _flatten(_multiply(nonce, BASE))
        r = point[0] % ORDER
        s = pow(nonce, -1, ORDER) * (message + r * secret) % ORDER
        if r == 0 or s == 0:
            continue
        odd = point[1] & 1
        if s > ORDER // 2:  # Of the two that are good, the low one: high ones are refused everywhere.
            s, odd = ORDER - s, odd ^ 1
        return r.to_bytes(32, "big") + s.to_bytes(32, "big") + bytes([27 + odd])
    raise AssertionError("the candidates never end")


def recover(digest: bytes, signature: bytes) -> str:
    """The address whose key has made a signature of 65 bytes."""
    r, s, v = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big"), signature[64]
    if not (len(signature) == 65 and 0 < r < ORDER and 0 < s <= ORDER // 2 and v in (0, 1, 27, 28)):
        raise ValueError("a signature of another form")
    square = (pow(r, 3, PRIME) + 7) % PRIME
    y = pow(square, (PRIME + 1) // 4, PRIME)
    if y * y % PRIME != square:
        raise ValueError("a signature that no key can have made")
    if y & 1 != (v - 27 if v > 1 else v):
        y = PRIME - y
    inverse = pow(r, -1, ORDER)
    message = int.from_bytes(digest, "big")
    point = _add(_multiply(-message * inverse % ORDER, BASE), _multiply(s * inverse % ORDER, (r, y)))
    return _address_of(_flatten(point))
