"""Figures of calls, sandboxes and processes."""
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import time

from home import BUILD, HOME, ROUNDS, WANTED, Engine, agent, beige, local, median_of, report, run, wait_gone, wait_ready


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
