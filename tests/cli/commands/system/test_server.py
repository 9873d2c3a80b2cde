"""The server process: it starts only with a token, serves, and ends as told."""

from __future__ import annotations

import re
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.cli.conftest import Cli


@contextmanager
def served(cli: Cli, *args: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server at any free port, and its address."""
    process = cli.start("server", "--port", "0", *args)
    try:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if found := re.search(r"serving \S+ at (https?://\S+)", line):
                yield process, found[1]
                break
        else:
            raise AssertionError(said)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_server_requires_a_token_and_shuts_down_gracefully(cli: Cli, ending: signal.Signals) -> None:
    cli.create("digest")
    made = cli.ok("token", "create", "ci", "--role", "viewer", "--json").json
    with served(cli) as (process, url):
        assert httpx.get(f"{url}/healthz", timeout=60).json() == {"status": "ok"}
        assert httpx.get(f"{url}/api/v1/schedules", timeout=60).status_code == 401
        headers = {"Authorization": f"Bearer {made['token']}"}
        answer = httpx.get(f"{url}/api/v1/schedules", headers=headers, timeout=60)
        assert [each["name"] for each in answer.json()["items"]] == ["digest"]
        assert "server" not in answer.headers
        run = cli("trigger", "digest", "--json").json["run"]["id"]
        path = f"{url}/api/v1/runs/{run}/logs?follow=true"
        with httpx.stream("GET", path, headers=headers, timeout=60) as followed:
            told = followed.iter_text()
            assert next(told).startswith("retry: ")
            process.send_signal(ending)
            # A stream that is cut off would be told apart from one that has ended.
            assert "".join(told) == ""
        assert process.wait(60) == 0
    [listed] = cli.ok("token", "list", "--json").json["tokens"]
    assert listed["last_used_at"] is not None


def test_a_server_without_a_live_token_does_not_start(cli: Cli) -> None:
    gone = cli.ok("token", "create", "ci", "--role", "viewer", "--json").json["id"]
    cli.ok("token", "revoke", gone)
    said = cli.refused(4, "server", "--port", "0")
    assert said.startswith("the store has no active token, so every request would be refused. Create one: tickbird tok")
    assert "--role admin --all-namespaces --url " in said


def test_server_with_certificate_serves_tls(folder: Path) -> None:
    cli = Cli(f"sqlite:///{folder}/birds.db", folder)
    cli.ok("migrate")
    made = cli.ok("token", "create", "ci", "--role", "viewer", "--json").json
    make = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    files = ["-keyout", str(cli.folder / "key.pem"), "-out", str(cli.folder / "cert.pem")]
    subprocess.run([*make.split(), *files], check=True, capture_output=True)
    trust = ssl.create_default_context(cafile=str(cli.folder / "cert.pem"))
    with served(cli, "--certfile", "cert.pem", "--keyfile", "key.pem") as (_, url):
        assert url.startswith("https://127.0.0.1:")
        headers = {"Authorization": f"Bearer {made['token']}"}
        assert httpx.get(f"{url}/api/v1/schedules", headers=headers, verify=trust, timeout=60).json()["items"] == []
        asked = ("ls", "--server", url, "--token", made["token"])
        said = cli.refused(5, *asked, TICKBIRD_URL="")
        assert f"{url}: its certificate is not trusted (self-signed certificate). Check the URL, or set" in said
        assert "No schedules" in cli.ok(*asked, TICKBIRD_URL="", SSL_CERT_FILE=str(cli.folder / "cert.pem")).out
    assert "cannot use the certificate 'nothing.pem'" in cli.refused(
        2, "server", "--port", "0", "--certfile", "nothing.pem"
    )
    (cli.folder / "bad.pem").write_text("no certificate")
    assert "cannot use the certificate 'bad.pem'" in cli.refused(2, "server", "--port", "0", "--certfile", "bad.pem")


def test_server_errors_are_one_sentence(cli: Cli) -> None:
    cli.ok("token", "create", "ci", "--role", "viewer", "--json")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"cannot listen at 127.0.0.1:{port}" in cli.refused(2, "server", "--port", port)
    assert "cannot listen at nowhere.invalid:0" in cli.refused(2, "server", "--host", "nowhere.invalid", "--port", "0")
    assert "--keyfile requires --certfile" in cli.refused(2, "server", "--keyfile", "key.pem")
    assert "is not in the range" in cli.refused(2, "server", "--port", "70000")


def test_a_server_never_creates_a_database(bare: Cli) -> None:
    assert "there is no database file" in bare.refused(5, "server", "--url", "sqlite:///none.db", "--port", "0")
    assert list(bare.folder.iterdir()) == []
