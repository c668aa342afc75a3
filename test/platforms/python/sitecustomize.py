"""Sends every TLS connection of a program to the sandbox on this machine,
whatever host it is for. Python imports this module at its start because its
folder is in PYTHONPATH. The program still names the host, and still checks the
certificate against it: only the address and the trusted authority differ."""
import os
import socket

import certifi

PORT = int(os.environ["SANDBOX_TLS_PORT"])
ROOTS = os.environ["SANDBOX_ROOTS"]

lookup = socket.getaddrinfo


def to_sandbox(host, port, *args, **kwargs):
    """Answers for all hosts with the address of the sandbox."""
    if host == "127.0.0.1":
        return lookup(host, port, *args, **kwargs)
    if port not in (443, "443", "https"):
        raise OSError(f"{host}:{port} is not a host of a platform: only connections with TLS go to the sandbox")
    return lookup("127.0.0.1", PORT, *args, **kwargs)


socket.getaddrinfo = to_sandbox
# Most SDKs trust the authorities of certifi. Meta's has a file of its own, which
# the variable REQUESTS_CA_BUNDLE of the library requests replaces.
certifi.where = lambda: ROOTS
