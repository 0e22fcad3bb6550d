"""EIP-712 typed data of the requests that users sign. See docs/specification.md CHAIN-1, CHAIN-2, CHAIN-3, CHAIN-4."""

from .keccak import keccak256
from .secp256k1 import sign

CREATION = "uint256 fundAmount,uint256 relayerFundAmount,bytes32 salt,"
ENTRY = "bytes32 cloudId,bytes32 dataId,bytes payload,"
ENTRIES = "bytes32 cloudId,bytes32[] dataIds,bytes[] payloads,"
TAIL = "uint256 relayerFee,uint256 timestamp,uint256 nonce"

DOMAIN = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
PERMIT = "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
STRUCTS = {
    "CREATE_PRISM_FOR": f"CreatePrism({CREATION}{TAIL})",
    "CREATE_PRISM_WITH_DATA_FOR": f"CreatePrismWithData({CREATION}bytes32[] dataIds,bytes[] payloads,{TAIL})",
    "WRITE_DATA_FOR": f"WriteData({ENTRY}{TAIL})",
    "MODIFY_DATA_FOR": f"ModifyData({ENTRY}{TAIL})",
    "DELETE_DATA_FOR": f"DeleteData(bytes32 cloudId,bytes32 dataId,{TAIL})",
    "TRANSFER_PRISM_FOR": f"TransferPrism(bytes32 cloudId,address newOwner,{TAIL})",
    "ACCEPT_TRANSFER_FOR": f"AcceptTransfer(bytes32 cloudId,{TAIL})",
    "DELETE_PRISM_FOR": f"DeletePrism(bytes32 cloudId,{TAIL})",
    "BATCH_WRITE_DATA_FOR": f"BatchWriteData({ENTRIES}{TAIL})",
    "BATCH_MODIFY_DATA_FOR": f"BatchModifyData({ENTRIES}{TAIL})",
    "BATCH_DELETE_DATA_FOR": f"BatchDeleteData(bytes32 cloudId,bytes32[] dataIds,{TAIL})",
}


def from_hex(text: str) -> bytes:
    return bytes.fromhex(text[2:])


def to_hex(data: bytes) -> str:
    return "0x" + data.hex()


def _left_pad(data: bytes) -> bytes:
    if len(data) > 32:
        raise ValueError("an id of more than 32 bytes")
    return data.rjust(32, b"\0")


def _encode(kind: str, value) -> bytes:
    """One field as 32 bytes."""
    if kind.endswith("[]"):
        return keccak256(b"".join(_encode(kind[:-2], item) for item in value))
    if kind == "uint256":
        return int(value).to_bytes(32, "big")
    if kind == "bytes":
        return keccak256(from_hex(value))
    if kind == "string":
        return keccak256(value.encode())
    return _left_pad(from_hex(value))  # bytes32 and address


def hash_struct(encoded_type: str, values: dict) -> bytes:
    """Hashes a struct: its type's hash, then each field."""
    fields = encoded_type[encoded_type.index("(") + 1 : -1].split(",")
    parts = [keccak256(encoded_type.encode())]
    for field in fields:
        kind, name = field.split(" ")
        parts.append(_encode(kind, values[name]))
    return keccak256(b"".join(parts))


def domain_separator(name: str, version: str, chain_id: int, contract: str) -> bytes:
    values = {"name": name, "version": version, "chainId": chain_id, "verifyingContract": contract}
    return hash_struct(DOMAIN, values)


def digest_of(separator: bytes, struct_hash: bytes) -> bytes:
    """What is signed."""
    return keccak256(b"\x19\x01" + separator + struct_hash)


def hash_request(action: str, params: dict, nonce: int) -> bytes:
    """Hashes the struct of an action. `nonce` is the signer's forwarder nonce; params have no such field."""
    return hash_struct(STRUCTS[action], {"relayerFundAmount": "0", **params, "nonce": nonce})


def sign_request(private_key: bytes, request: dict) -> dict:
    """Signs `{ action, params, chain_id, forwarder, nonce }`. Returns the fields to add to the params: v, r and s."""
    separator = domain_separator("Forwarder", "1", request["chain_id"], request["forwarder"])
    struct_hash = hash_request(request["action"], request["params"], request["nonce"])
    signature = sign(private_key, digest_of(separator, struct_hash))
    return {"v": signature[64], "r": to_hex(signature[:32]), "s": to_hex(signature[32:64])}


def derive_cloud_id(signer: str, salt: str) -> str:
    """The id that a new prism will have."""
    return to_hex(keccak256(_left_pad(from_hex(signer)) + _left_pad(from_hex(salt))))
