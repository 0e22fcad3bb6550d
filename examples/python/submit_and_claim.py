"""A user signs a write and submits it; a relayer claims it: python3 examples/python/submit_and_claim.py

Nothing here talks to a chain. A real relayer submits the request to the Forwarder between claim and report. This one
reports the request failed in the end, so that it does not stay claimed.
"""

import argparse
import os
import secrets
import time

from prism.gateway import Gateway, GatewayError
from prism.secp256k1 import address_of
from prism.typed_data import derive_cloud_id, from_hex, sign_request, to_hex

# Keys 1 and 2 of the development mnemonic "test test … junk", known to everyone. Never use them for anything else.
DEVELOPMENT_RELAYER = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"
DEVELOPMENT_USER = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a"
# Where `npm run devnet` puts the Forwarder, and its chain.
DEVNET = {"chain_id": 31337, "forwarder": "0x5FC8d32690cc91D4c39d9d3abcBD16989F875707"}


def sign_write(key: bytes, nonce: int) -> dict:
    """Makes the params of a write by a user, who has a prism with the salt 1."""
    signer = address_of(key)
    params = {
        "cloudId": derive_cloud_id(signer, "0x01"),
        "dataId": to_hex(secrets.token_bytes(32)),
        "payload": to_hex("hello from Python".encode()),
        "relayerFee": str(10**16),  # A hundredth of a credit, in base units.
        "timestamp": str(int(time.time())),
    }
    request = {"action": "WRITE_DATA_FOR", "params": params, "nonce": nonce, **DEVNET}
    return {**params, "signer": signer, **sign_request(key, request)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="http://127.0.0.1:8787", help="the gateway (default: %(default)s)")
    options = parser.parse_args()
    user = from_hex(os.environ.get("USER_PRIVATE_KEY", DEVELOPMENT_USER))
    relayer = from_hex(os.environ.get("RELAYER_PRIVATE_KEY", DEVELOPMENT_RELAYER))
    gateway = Gateway(options.url)

    # An administrator does this once for each relayer.
    gateway.add_relayer(os.environ.get("ADMIN_API_KEY", "change-me-admin-key"), address_of(relayer))

    # A real client reads the nonce from the Forwarder: nonces(signer).
    params = sign_write(user, nonce=0)
    record = gateway.submit({"chainName": "eip155:31337", "action": "WRITE_DATA_FOR", "params": params})
    print(f"Submitted {record['requestId']}, which is {record['status']}.")

    record = gateway.update(relayer, record["requestId"], {"status": "processing"})
    print(f"{record['claimedBy']} has claimed it: it is {record['status']}.")

    why = "An example in Python, which submits nothing to a chain."
    gateway.update(relayer, record["requestId"], {"status": "failed", "errorMessage": why})
    record = gateway.read(record["requestId"])
    print(f"It is {record['status']} in the end: {record['errorMessage']}")


if __name__ == "__main__":
    try:
        main()
    except GatewayError as error:
        raise SystemExit(str(error)) from None
