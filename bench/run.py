#!/usr/bin/env python3
"""Measures a home of its own beside the floor of each figure. Called by bench/run.sh."""
import os
import pathlib
import shutil
import sys

from calls import cell, denied, denied64, exec8, exec_, fair, launcher, ready, ready20, restart
from home import BUILD, ENGINE, HOME, MODEL, MODEL_PORT, WANTED, agent, beige, local, wait_ready, write
from talk import streams, talk, turns

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
