"""The home that is measured: its processes, its agents, the engine beside it, and how a figure is told."""
import http.client
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(sys.argv[1])
WANTED = sys.argv[2:]
ENGINE = os.environ["BEIGE_TEST_ENGINE_SOCKET"]
ROUNDS = 5
HOME = pathlib.Path(tempfile.mkdtemp(prefix="bgbench-", dir="/tmp"))
MODEL = subprocess.Popen([BUILD / "bin/bench-model"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
MODEL_PORT = int(MODEL.stdout.readline())


def run(*argv, check=True, **kw):
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, **kw)
    if check and done.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, argv))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def beige(*argv, check=True):
    return run(BUILD / "bin/beige", "--home", HOME, *argv, check=check)


def report(name, unit, value, floor, n):
    ratio = round(value / floor, 2) if floor else None
    print(json.dumps({"name": name, "unit": unit, "value": round(value, 3), "floor": round(floor, 3) if floor else None, "ratio": ratio, "n": n}), flush=True)


class Engine(http.client.HTTPConnection):
    def __init__(self):
        super().__init__("engine")

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(ENGINE)

    def ask(self, method, path, body=None):
        self.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
        answer = self.getresponse()
        text = answer.read()
        return json.loads(text) if text else None


def write(path, text, mode=0o644):
    path = HOME / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def agent(name, extra="", tools=("noop",)):
    named = ", ".join(f"{{name: {tool}}}" for tool in tools)
    text = f"apiVersion: beige.dev/v1alpha1\nkind: Agent\nmetadata: {{name: {name}}}\nspec:\n  description: bench\n  tools: [{named}]\n{extra}"
    # Renamed into place, as an editor does.
    temp = HOME / "agents.d" / f".{name}.tmp"
    temp.parent.mkdir(exist_ok=True)
    temp.write_text(text)
    temp.rename(HOME / "agents.d" / f"{name}.yaml")


def local(name):
    return json.loads(beige("get", "agents", name, "-o", "json"))["local"]


def median_of(f, key):
    results = [f() for _ in range(ROUNDS)]
    return statistics.median(r[key] for r in results), results[0]["n"] * ROUNDS


def wait_ready(names):
    for name in names:
        beige("wait", "agent", name, "--for=condition=Ready", "--timeout=120s")


def wait_gone(names):
    for name in names:
        (HOME / "agents.d" / f"{name}.yaml").unlink()
    for name in names:
        beige("wait", "agent", name, "--for=delete", "--timeout=120s")
