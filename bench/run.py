#!/usr/bin/env python3
"""Measures a home of its own beside the floor of each figure. Called by bench/run.sh."""
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
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


def call_bench(*argv):
    return json.loads(run(BUILD / "bin/bench-call", "--seconds", 1, *argv))


def denied():
    socket_path = local("b1")["socket"]
    floor, value = [], []
    for _ in range(ROUNDS):  # interleaved, so that noise hits both
        floor.append(call_bench("--floor")["p50_us"])
        value.append(call_bench("--socket", socket_path)["p50_us"])
    report("denied_v1_1_connection_p50", "us", statistics.median(value), statistics.median(floor), ROUNDS)


def denied64():
    socket_path = local("b1")["socket"]
    floor, value = [], []
    for _ in range(ROUNDS):
        floor.append(call_bench("--floor", "--connections", 64)["per_second"])
        value.append(call_bench("--socket", socket_path, "--connections", 64)["per_second"])
    report("denied_v1_64_connections_rate", "1/s", statistics.median(value), statistics.median(floor), ROUNDS)


def spawned(*command, n=300):
    return json.loads(beige("exec", "b1", "--", "/workspace/spawn", n, *command))


def launcher():
    noop, value = [], []
    for _ in range(ROUNDS):
        noop.append(spawned("/workspace/noop")["p50_us"])
        result = spawned("/beige/bin/beige-sandbox", "run", "not-granted")
        assert result["status"] == 127, result
        value.append(result["p50_us"])
    report("launcher_denied_p50", "us", statistics.median(value), statistics.median(noop), ROUNDS)


def cell():
    noop, value = [], []
    for _ in range(ROUNDS):
        noop.append(spawned("/workspace/noop")["p50_us"])
        result = spawned("/tools/bin/noop")
        assert result["status"] == 0, result
        value.append(result["p50_us"])
    report("launcher_c_tool_in_cell_p50", "us", statistics.median(value), statistics.median(noop), ROUNDS)


def http_exec(clients, count):
    info = json.loads((HOME / "data/gateway/gateway.json").read_text())
    token = (HOME / "api-token").read_text().strip()
    return json.loads(run(BUILD / "bin/bench-http-exec", "--port", info["httpPort"], "--token", token, "--agent", "b1", "--clients", clients, "--count", count))


def forked_true():
    times = []
    for _ in range(200):
        start = time.perf_counter()
        subprocess.run(["/bin/true"], close_fds=False)
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def exec_():
    value, n = median_of(lambda: http_exec(1, 500), "p50_ms")
    report("exec_true_http_p50", "ms", value, forked_true(), n)


def exec8():
    value, n = median_of(lambda: http_exec(8, 1600), "per_second")
    report("exec_true_http_8_clients_rate", "1/s", value, None, n)


def same_settings(name):
    """The engine's create body with the settings of a sandbox of ours, for the floor."""
    status = json.loads(beige("get", "agents", "b1", "-o", "json"))["status"]
    inspect = Engine().ask("GET", f"/containers/{status['sandbox']['id']}/json")
    config = inspect["Config"]
    host = inspect["HostConfig"]
    return {"Image": "localhost/busybox:test", "Entrypoint": ["sleep"], "Cmd": ["1000"], "User": config["User"], "Env": config["Env"],
            "WorkingDir": config["WorkingDir"], "HostConfig": host}


def engine_start(body, name):
    engine = Engine()
    start = time.perf_counter()
    made = engine.ask("POST", f"/containers/create?name={name}", body)
    engine.ask("POST", f"/containers/{made['Id']}/start")
    elapsed = (time.perf_counter() - start) * 1000
    return made["Id"], elapsed


def engine_remove(ids):
    for container in ids:
        Engine().ask("DELETE", f"/containers/{container}?force=true&v=true")


def wait_ready(names):
    for name in names:
        beige("wait", "agent", name, "--for=condition=Ready", "--timeout=120s")


def wait_gone(names):
    for name in names:
        (HOME / "agents.d" / f"{name}.yaml").unlink()
    for name in names:
        beige("wait", "agent", name, "--for=delete", "--timeout=120s")


def ready():
    body = same_settings("b1")
    floor, value = [], []
    for i in range(10):
        container, elapsed = engine_start(body, f"bgbench-{os.getpid()}-{i}")
        floor.append(elapsed)
        engine_remove([container])
        start = time.perf_counter()
        agent(f"r{i}")
        wait_ready([f"r{i}"])
        value.append((time.perf_counter() - start) * 1000)
        wait_gone([f"r{i}"])
    report("applied_to_ready_p50", "ms", statistics.median(value), statistics.median(floor), 10)


def ready20():
    from concurrent.futures import ThreadPoolExecutor
    body = same_settings("b1")
    start = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        ids = list(pool.map(lambda i: engine_start(body, f"bgbench20-{os.getpid()}-{i}")[0], range(20)))
    floor = time.perf_counter() - start
    engine_remove(ids)
    names = [f"p{i}" for i in range(20)]
    start = time.perf_counter()
    for name in names:
        agent(name)
    wait_ready(names)
    value = time.perf_counter() - start
    report("applied_to_ready_20_at_once", "s", value, floor, 20)
    if not WANTED or "memory" in WANTED:
        memory_now()
    wait_gone(names)


def processes():
    """Our processes of this home: operator, gateway and the cells beneath it."""
    pids = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(HOME) in line and "bench" not in line.split(" ")[0] and " up" not in line:
            pids.append(path.name)
        elif line.startswith("/beige/bin/beige-sandbox runner"):
            pids.append(path.name)
    return pids


def memory_now():
    total, cpu = 0, {}
    for pid in processes():
        try:
            for line in (pathlib.Path("/proc") / pid / "smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
        except OSError:
            continue

    def ticks():
        used = 0
        for pid in processes():
            try:
                fields = (pathlib.Path("/proc") / pid / "stat").read_text().rsplit(")", 1)[1].split()
                used += int(fields[11]) + int(fields[12])
            except OSError:
                continue
        return used
    time.sleep(3)
    before = ticks()
    time.sleep(32)  # one round trip of every sandbox is in it
    idle = (ticks() - before) / os.sysconf("SC_CLK_TCK") / 32 * 100
    report("pss_operator_gateway_cells_20_agents", "MB", total / 1024, None, 1)
    report("cpu_idle_20_agents", "percent", idle, None, 1)


def restart():
    names = [f"g{i}" for i in range(4)]
    for name in names:
        agent(name)
    wait_ready(names)
    everyone = names + ["b1"]
    times = []
    for _ in range(ROUNDS):
        line = run("pgrep", "-f", f"beige-gateway --home {HOME}").split()
        for pid in line:
            os.kill(int(pid), signal.SIGKILL)
        start = time.perf_counter()
        left = set(everyone)
        while left and time.perf_counter() - start < 30:
            for name in list(left):
                if subprocess.run([BUILD / "bin/beige", "--home", HOME, "exec", name, "--", "/tools/bin/noop"], capture_output=True).returncode == 0:
                    left.discard(name)
        assert not left, left
        times.append(time.perf_counter() - start)
    report("gateway_killed_5_agents_call_again", "s", statistics.median(times), None, ROUNDS)
    wait_gone(names)


def fair():
    """A neighbour's p99 while another agent floods its own link from inside its sandbox, or a tool of it prints or burns in its cell; the floor is its
    quiet p99. Beside a busy sandbox that asks nothing of the gateway: what a full machine costs whatever we do."""
    agent("loud", "  sandbox: {resources: {limits: {cpu: 500m}}}\n", tools=("noop", "print"))
    wait_ready(["loud"])
    program = pathlib.Path(local("loud")["workspace"]) / "flood"
    shutil.copy(BUILD / "bench/flood", program)
    program.chmod(0o755)
    socket_path = local("b1")["socket"]
    commands = {how: ["/workspace/flood", how, "2"] for how in ("spin", "pipeline", "lines", "connects", "slow")}
    commands["print"] = ["sh", "-c", "/tools/bin/print 2 >/dev/null"]
    commands["burn"] = ["/tools/bin/print", "2", "8"]
    for how, command in commands.items():
        quiet, value = [], []
        for _ in range(ROUNDS):
            quiet.append(call_bench("--socket", socket_path)["p99_us"])
            flood = subprocess.Popen([BUILD / "bin/beige", "--home", HOME, "exec", "loud", "--", *command], stdout=subprocess.PIPE)
            time.sleep(0.5)
            value.append(call_bench("--socket", socket_path)["p99_us"])
            said = flood.communicate()[0]
            assert flood.returncode == 0 and (command[0] != "/workspace/flood" or how == "spin" or json.loads(said)["sent"] > 0), how
        report(f"neighbour_p99_beside_{how}_flood", "us", statistics.median(value), statistics.median(quiet), ROUNDS)
    wait_gone(["loud"])
    for how in ("requests", "lines", "connects"):
        value, n = median_of(lambda: json.loads(run(BUILD / "bin/gateway_core_wait", how, 20 if how == "requests" else 200)), "p99_us")
        floor, _ = median_of(lambda: json.loads(run(BUILD / "bin/gateway_core_wait", "quiet", 200)), "p99_us")
        report(f"core_wait_p99_beside_{how}", "us", value, floor, n)


def talker(name, model, count=0, streams=0, direct=False, session=""):
    """bench-talk against an agent whose model that is, or against the model itself."""
    if direct:
        body = {"model": model, "stream": True, "messages": [{"role": "system", "content": "x" * 600}, {"role": "user", "content": "hi"}]}
        where = ["--port", MODEL_PORT, "--path", "/v1/chat/completions"]
    else:
        info = json.loads((HOME / "data/gateway/gateway.json").read_text())
        body = {"text": "hi", "session": session} if session else {"text": "hi"}
        where = ["--port", info["httpPort"], "--token", (HOME / "api-token").read_text().strip(), "--path", f"/v1/namespaces/default/agents/{name}/prompt"]
    return json.loads(run(BUILD / "bin/bench-talk", *where, "--body", json.dumps(body, separators=(",", ":")), *(["--streams", streams] if streams else ["--count", count])))


def new_session(name):
    info = json.loads((HOME / "data/gateway/gateway.json").read_text())
    client = http.client.HTTPConnection("127.0.0.1", info["httpPort"])
    client.request("POST", f"/v1/namespaces/default/agents/{name}/sessions", "{}", {"Authorization": "Bearer " + (HOME / "api-token").read_text().strip(), "Content-Type": "application/json"})
    return json.loads(client.getresponse().read())["id"]


def thinker(name, model):
    agent(name, f"  model: {{choices: [{{name: \"bench/{model}\"}}]}}\n  coreTools: [{{name: exec}}]\n")
    wait_ready([name])


def talk():
    for name, model in (("t1", "instant"), ("t2", "tool"), ("t3", "tokens1000")):
        thinker(name, model)
    figures = {key: ([], []) for key in ("first50", "first99", "new50", "new99", "turn", "tool", "bytes")}
    for _ in range(ROUNDS):
        direct = talker("", "instant", 300, direct=True)
        through = talker("t1", "instant", 300, session=new_session("t1"))
        anew = talker("t1", "instant", 300)
        for key, field, result in (("first50", "first_p50_ms", through), ("first99", "first_p99_ms", through), ("turn", "p50_ms", through),
                                   ("new50", "first_p50_ms", anew), ("new99", "first_p99_ms", anew)):
            figures[key][0].append(direct[field])
            figures[key][1].append(result[field])
        figures["tool"][0].append(2 * direct["p50_ms"])
        figures["tool"][1].append(talker("t2", "tool", 100)["p50_ms"])
        figures["bytes"][0].append(talker("", "tokens1000", 3, direct=True)["bytes"])
        figures["bytes"][1].append(talker("t3", "tokens1000", 3)["bytes"])
    names = {"first50": ("first_byte_p50", "ms"), "first99": ("first_byte_p99", "ms"), "new50": ("first_byte_new_session_p50", "ms"), "new99": ("first_byte_new_session_p99", "ms"),
             "turn": ("turn_without_tool_p50", "ms"), "tool": ("turn_with_one_exec_p50", "ms"),
             "bytes": ("bytes_of_1000_tokens", "B")}
    for key, (floor, value) in figures.items():
        report(names[key][0], names[key][1], statistics.median(value), statistics.median(floor), ROUNDS)
    wait_gone(["t1", "t2", "t3"])


def gateway_usage():
    """Seconds of processor time, and resident KiB without what is shared, of the gateway."""
    pid = run("pgrep", "-f", f"^[^ ]*beige-gateway --home {HOME}").split()[-1]
    fields = (pathlib.Path("/proc") / pid / "stat").read_text().rsplit(")", 1)[1].split()
    pss = [int(line.split()[1]) for line in (pathlib.Path("/proc") / pid / "smaps_rollup").read_text().splitlines() if line.startswith("Pss_Anon:")]
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), pss[0]


def streams():
    """500 at once, 50 tokens a second each; floor: the same without the gateway."""
    thinker("s1", "paced20-250")
    direct = talker("", "paced20-250", streams=500, direct=True)
    cpu, idle = gateway_usage()
    peak = []
    result = {}
    worker = threading.Thread(target=lambda: result.update(talker("s1", "", streams=500)))
    start = time.perf_counter()
    worker.start()
    while worker.is_alive():
        time.sleep(0.5)
        peak.append(gateway_usage()[1])
    elapsed = time.perf_counter() - start
    used = gateway_usage()[0] - cpu
    report("streams_500_delay_p50", "ms", result["p50_ms"], direct["p50_ms"], result["n"])
    report("streams_500_delay_p99", "ms", result["p99_ms"], direct["p99_ms"], result["n"])
    report("streams_500_gateway_cpu", "cores", used / elapsed, None, 1)
    report("memory_per_open_stream", "KB", (max(peak) - idle) / 500, None, 500)
    wait_gone(["s1"])


def turns():
    """600 turns in one session: the last ten beside the first."""
    thinker("l1", "instant")
    session = new_session("l1")
    result = talker("l1", "", 600, session=session)
    report("turn_600_of_a_session", "ms", result["last10_ms"], result["first10_ms"], 600)
    wait_gone(["l1"])


BENCHES = {"denied": denied, "denied64": denied64, "launcher": launcher, "cell": cell, "exec": exec_, "exec8": exec8, "ready": ready,
           "ready20": ready20, "restart": restart, "fair": fair, "talk": talk, "streams": streams, "turns": turns}


def main():
    unknown = [name for name in WANTED if name not in BENCHES and name != "memory"]
    if unknown:
        sys.exit(f"bench: no such figure: {', '.join(unknown)}; there are: {', '.join(BENCHES)} memory")
    head = "apiVersion: beige.dev/v1alpha1\n"
    write("gateway.yaml", head + "kind: GatewayConfig\nhttp: {listen: \"127.0.0.1:0\"}\nmetrics: {listen: \"127.0.0.1:0\"}\ntools:\n  noop: {path: ./tools/noop}\n  print: {path: ./tools/print}\n"
          f"llm:\n  providers:\n    bench: {{api: openai-completions, baseUrl: \"http://127.0.0.1:{MODEL_PORT}/v1\", concurrency: 1000, models: {{instant: {{}}, tool: {{}}, tokens1000: {{}}, paced20-250: {{}}}}}}\n")
    write("operator.yaml", head + f"kind: OperatorConfig\nengine: {{type: docker, socket: {ENGINE}}}\nmetrics: {{listen: \"127.0.0.1:0\"}}\n"
          "defaults: {image: \"localhost/busybox:test\", resources: {cpu: \"2\", memory: 128Mi}}\n")
    for tool in ("noop", "print"):
        write(f"tools/{tool}/tool.yaml", f"name: {tool}\ndescription: A tool of the bench\ncommand: [./{tool}]\n")
        shutil.copy(BUILD / "bench" / tool, HOME / "tools" / tool / tool)
    try:
        beige("up", "--detach")
        agent("b1")
        wait_ready(["b1"])
        workspace = pathlib.Path(local("b1")["workspace"])
        for program in ("spawn", "noop"):
            shutil.copy(BUILD / "bench" / program, workspace / program)
            os.chmod(workspace / program, 0o755)
        for name, bench in BENCHES.items():
            if not WANTED or name in WANTED or (name == "ready20" and "memory" in WANTED):
                bench()
    finally:
        beige("down", "--delete-sandboxes", check=False)
        MODEL.stdin.close()
        shutil.rmtree(HOME, ignore_errors=True)


main()
