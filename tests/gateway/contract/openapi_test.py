#!/usr/bin/env python3
"""The API's own description against a running gateway, by schemathesis: every route, right and wrong requests, with and without a token.

  openapi_test.py VENV GATEWAY UPSTREAM    makes the virtual environment VENV with requirements.txt when it is not there; GATEWAY is the
                                           program, UPSTREAM the scripted provider. Exit status 1 when a route breaks what is written of it.
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "support"))
import pinned_venv  # noqa: E402

CONFIG = """apiVersion: beige.dev/v1alpha1
kind: GatewayConfig
http: {{listen: "127.0.0.1:0"}}
metrics: {{listen: "127.0.0.1:0"}}
llm:
  providers:
    p: {{api: openai-completions, baseUrl: "http://127.0.0.1:{port}/v1", models: {{"tokens:20": {{contextWindow: 100000, maxTokens: 1000}}}}}}
"""


def grants():
    """The operator's part of what is said on admin.sock: one agent that may do nothing but think."""
    agent = {"namespace": "default", "name": "a1", "uid": "uid-of-a1"}
    grant = {"agent": agent, "generation": 1, "labels": {}, "description": "", "tools": [], "skills": [], "suspended": False, "sandboxUid": 0}
    hello = {"type": "hello", "min": 1, "max": 1, "features": [], "version": "test"}
    return "".join(json.dumps(message) + "\n" for message in (hello, {"type": "sync", "grants": [grant]}))


def wait_for(what, look, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if (found := look()) is not None:
            return found
        time.sleep(0.02)
    sys.exit(f"no {what} after {seconds} s")


def info_of(home, pid):
    try:
        info = json.loads((home / "data/gateway/gateway.json").read_text())
    except (OSError, ValueError):
        return None
    return info if info.get("pid") == pid else None


def put_in_force(home):
    operator = socket.socket(socket.AF_UNIX)
    operator.settimeout(20)
    operator.connect(str(home / "run/admin.sock"))
    operator.sendall(grants().encode())
    said = b""
    while b'"synced"' not in said:
        piece = operator.recv(65536)
        if not piece:
            sys.exit(f"the gateway took no grants: {said!r}")
        said += piece
    return operator


def run(gateway, upstream, home):
    (home / "gateway.yaml").write_text(CONFIG.format(port=upstream))
    with open(home / "log", "w") as log, subprocess.Popen([gateway, "--home", home], stdout=log, stderr=log) as process:
        try:
            base = f"http://127.0.0.1:{wait_for('gateway', lambda: info_of(home, process.pid))['httpPort']}"
            with put_in_force(home):
                token = (home / "data/gateway/api-token").read_text().strip()
                # followSession never ends by itself; our own tests have it.
                command = [
                    os.path.join(os.path.dirname(sys.executable), "schemathesis"), "--config-file", str(HERE / "schemathesis.toml"), "run", f"{base}/v1/openapi.json",
                    "-H", f"Authorization: Bearer {token}", "--exclude-operation-id", "followSession", "--no-color", "--max-time", "30"]
                status = subprocess.run(command, cwd=home, env={**os.environ, "NO_PROXY": "127.0.0.1", "COLUMNS": "160"}, timeout=120).returncode
            if process.poll() is not None:
                sys.exit(f"the gateway ended with status {process.returncode}\n{(home / 'log').read_text()[-4000:]}")
        finally:
            process.terminate()
    return status


def main():
    upstream = subprocess.Popen([sys.executable, sys.argv[3]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        port = json.loads(upstream.stdout.readline())["port"]
        with tempfile.TemporaryDirectory(prefix="beige-api-") as home:
            os.chmod(home, 0o755)
            return run(sys.argv[2], port, pathlib.Path(home))
    finally:
        upstream.stdin.close()
        upstream.wait()


if __name__ == "__main__":
    venv = pathlib.Path(sys.argv[1]).resolve()
    if pathlib.Path(sys.prefix) != venv:
        pinned_venv.run_again_in(venv, HERE / "requirements.txt", [__file__, *sys.argv[1:]])
    sys.exit(main())
