"""The package on a Ray cluster with TLS; python/ray_cluster.py makes the certificates and runs it."""

import os
import socket
import ssl

import pytest

import ray

from ray_tests import on_ray, running, wanted  # noqa: F401  (fixtures)
from reticent import ray as cluster
from test_shards import bits, files, model  # noqa: F401


def handshake(context):
    """What the store of the cluster answers to whoever comes with this."""
    host, port = ray.get_runtime_context().gcs_address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=10) as plain:
        with context.wrap_socket(plain, server_hostname=host) as closed:
            # A refusal of our certificate comes after the handshake, in place of the first bytes.
            closed.settimeout(10)
            return closed.version(), closed.recv(1)


def context():
    context = ssl.create_default_context(cafile=os.environ["RAY_TLS_CA_CERT"])
    context.set_alpn_protocols(["h2"])
    return context


def test_the_cluster_speaks_tls_to_those_with_a_certificate_alone():
    known = context()
    known.load_cert_chain(os.environ["RAY_TLS_SERVER_CERT"], os.environ["RAY_TLS_SERVER_KEY"])
    version, first = handshake(known)
    assert version in ("TLSv1.2", "TLSv1.3") and first
    with pytest.raises((ssl.SSLError, ConnectionError)):
        _, first = handshake(context())
        if not first:
            raise ConnectionError("closed without a word")


def test_a_fit_on_a_cluster_with_tls_is_that_of_the_command_line(files, wanted):  # noqa: F811
    found = on_ray(model(files), files / "all.csv", shards=2)
    assert bits(found) == wanted
    assert cluster.Actors().encrypted is True
