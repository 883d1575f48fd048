"""Figures of conversations."""
import http.client
import json
import os
import pathlib
import statistics
import threading
import time

from home import BUILD, HOME, MODEL_PORT, ROUNDS, agent, report, run, wait_gone, wait_ready


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
