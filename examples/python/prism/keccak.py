"""Keccak-256, the hash of Ethereum. hashlib's sha3_256 pads differently, so its results are other ones.

See https://keccak.team/keccak_specs_summary.html.
"""

RATE_BYTES = 136  # Of the state's 200 bytes, those that take in data: 1600 bits less twice the 256 bits of the result.
MASK = (1 << 64) - 1
ROTATIONS = (
    (0, 36, 3, 41, 18),
    (1, 44, 10, 45, 2),
    (62, 6, 43, 15, 61),
    (28, 55, 25, 21, 56),
    (27, 20, 39, 8, 14),
)


def _round_constants() -> list[int]:
    """The 24 constants, from the linear feedback shift register that defines them."""
    constants, register = [], 1
    for _ in range(24):
        constant = 0
        for exponent in range(7):
            if register & 1:
                constant |= 1 << ((1 << exponent) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        constants.append(constant)
    return constants


ROUND_CONSTANTS = _round_constants()


def _rotate(lane: int, bits: int) -> int:
    return ((lane << bits) | (lane >> (64 - bits))) & MASK


def _permute(lanes: list[list[int]]) -> None:
    """Keccak-f[1600] on 5 × 5 lanes of 64 bits, in place."""
    for constant in ROUND_CONSTANTS:
        parity = [column[0] ^ column[1] ^ column[2] ^ column[3] ^ column[4] for column in lanes]
        for x in range(5):
            change = parity[x - 1] ^ _rotate(parity[(x + 1) % 5], 1)
            for y in range(5):
                lanes[x][y] ^= change
        moved = [[0] * 5 for _ in range(5)]
        for x in range(5):
            for y in range(5):
                moved[y][(2 * x + 3 * y) % 5] = _rotate(lanes[x][y], ROTATIONS[x][y])
        for x in range(5):
            for y in range(5):
                lanes[x][y] = moved[x][y] ^ (~moved[(x + 1) % 5][y] & moved[(x + 2) % 5][y] & MASK)
        lanes[0][0] ^= constant


def keccak256(data: bytes) -> bytes:
    """Hashes bytes to 32 bytes."""
    padding = bytearray(RATE_BYTES - len(data) % RATE_BYTES)
    padding[0] ^= 0x01  # SHA-3 has 0x06 here.
    padding[-1] ^= 0x80
    padded = data + bytes(padding)
    lanes = [[0] * 5 for _ in range(5)]
    for start in range(0, len(padded), RATE_BYTES):
        block = padded[start : start + RATE_BYTES]
        for place in range(RATE_BYTES // 8):
            lanes[place % 5][place // 5] ^= int.from_bytes(block[8 * place : 8 * place + 8], "little")
        _permute(lanes)
    return b"".join(lanes[place % 5][place // 5].to_bytes(8, "little") for place in range(4))
