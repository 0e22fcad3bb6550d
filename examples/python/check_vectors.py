"""Compares this client with the test vectors of packages/protocol/vectors: python3 examples/python/check_vectors.py"""

import json
from pathlib import Path

from prism import typed_data
from prism.keccak import keccak256
from prism.relayer_auth import hash_message, write_message
from prism.secp256k1 import address_of, recover, sign
from prism.typed_data import from_hex, to_hex

VECTORS = Path(__file__).resolve().parents[2] / "packages/protocol/vectors"


def expect(what: str, found, expected) -> None:
    if found != expected:
        raise SystemExit(f"{what}: expected {expected}, found {found}")


def check_typed_data(file: dict) -> int:
    key = from_hex(file["signer"]["privateKey"])
    expect("the signer's address", address_of(key), file["signer"]["address"])
    for struct in file["structs"]:
        expect(struct["action"], typed_data.STRUCTS[struct["action"]], struct["encodedType"])
        expect(struct["action"], to_hex(keccak256(struct["encodedType"].encode())), struct["typeHash"])
    for vector in file["vectors"]:
        name, chain_id, forwarder = vector["name"], vector["chainId"], vector["forwarder"]
        struct_hash = typed_data.hash_request(vector["action"], vector["params"], int(vector["nonce"]))
        expect(f"{name}, struct hash", to_hex(struct_hash), vector["structHash"])
        separator = typed_data.domain_separator("Forwarder", "1", chain_id, forwarder)
        expect(f"{name}, domain separator", to_hex(separator), vector["domainSeparator"])
        request = {**vector, "chain_id": chain_id, "nonce": int(vector["nonce"])}
        signature = typed_data.sign_request(key, request)
        expect(f"{name}, signature", signature, {field: vector[field] for field in ("v", "r", "s")})
    for permit in file["permits"]:
        token = permit["token"]
        separator = typed_data.domain_separator(token["name"], token["version"], permit["chainId"], token["address"])
        digest = typed_data.digest_of(separator, typed_data.hash_struct(typed_data.PERMIT, permit["message"]))
        expect(permit["name"], to_hex(sign(key, digest)), permit["signature"])
    for prism in file["cloudIds"]:
        expect("a prism's id", typed_data.derive_cloud_id(prism["signer"], prism["salt"]), prism["cloudId"])
    return len(file["structs"]) + len(file["vectors"]) + len(file["permits"]) + len(file["cloudIds"])


def check_relayer_auth(file: dict) -> int:
    expect("the hash of no body", to_hex(keccak256(b"")), file["emptyBodyHash"])
    # A refused call differs in one thing from what a client should do.
    good = [vector for vector in file["vectors"] if vector["expected"] in ("accepted", "whitelist")]
    for vector in good:
        name, request, signed = vector["name"], vector["request"], vector["signed"]
        sent = {header.lower(): value for header, value in request["headers"].items()}
        message = write_message(
            sent["x-relayer-timestamp"], request["method"], request["path"], from_hex(request["bodyHex"])
        )
        expect(f"{name}, message", message, signed["message"])
        digest = hash_message(message)
        expect(f"{name}, digest", to_hex(digest), signed["digest"])
        expect(f"{name}, signature", to_hex(sign(from_hex(signed["privateKey"]), digest)), signed["signature"])
        recovered = recover(digest, from_hex(sent["x-relayer-signature"]))
        expect(f"{name}, recovered address", recovered, vector["recoveredAddress"])
    return len(good)


def main() -> None:
    count = check_typed_data(json.loads((VECTORS / "typed-data.json").read_text()))
    print(f"{count} vectors of typed data agree.")
    count = check_relayer_auth(json.loads((VECTORS / "relayer-auth.json").read_text()))
    print(f"{count} vectors of relayer authentication agree.")


if __name__ == "__main__":
    main()
