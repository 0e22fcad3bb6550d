"""Calls to a gateway, over urllib."""

import json
import urllib.error
import urllib.request

from .relayer_auth import sign_call


class GatewayError(Exception):
    """The gateway's own sentence, with the status."""

    def __init__(self, status: int, body: dict):
        faults = "".join(f" {fault['path']}: {fault['message']}." for fault in body.get("details", ()))
        super().__init__(f"{status}: {body.get('error', 'no reason given')}{faults}")
        self.status = status


class Gateway:
    def __init__(self, url: str):
        self.url = url.rstrip("/")

    def call(self, method: str, path: str, body: bytes = b"", headers: dict | None = None) -> dict:
        """Makes a call and reads its JSON answer. Raises GatewayError for anything but 2xx."""
        request = urllib.request.Request(self.url + path, data=body or None, method=method, headers=headers or {})
        if body:
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                raise GatewayError(error.code, json.load(error)) from None

    def submit(self, request: dict) -> dict:
        """Puts a signed request into the queue: `{ chainName, action, params }`."""
        return self.call("POST", "/requests", json.dumps(request).encode())

    def read(self, request_id: str) -> dict:
        return self.call("GET", f"/requests/{request_id}")

    def add_relayer(self, admin_key: str, address: str) -> dict:
        return self.call("POST", "/admin/relayers", json.dumps({"address": address}).encode(), {"X-Admin-Key": admin_key})

    def update(self, relayer_key: bytes, request_id: str, change: dict) -> dict:
        """Claims or reports a request as a relayer."""
        path = f"/requests/{request_id}"
        # These very bytes are signed and sent.
        body = json.dumps(change).encode()
        return self.call("PATCH", path, body, sign_call(relayer_key, "PATCH", path, body))
