#!/usr/bin/env python3
"""Runs what README.md and docs/*.md show: every ```console block, in order, page by page, in a home made from examples/quickstart.

A line that starts with `$ ` is run by bash with `beige` on PATH and BEIGE_HOME set; what follows is what it must print. In the expected text `...`
stands for anything within a line, and a line that is only `...` for any number of lines. A block marked ```console norun is only shown.
Also checked: links between pages.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
BIN = pathlib.Path(sys.argv[2])
ENGINE = os.environ.get("BEIGE_TEST_ENGINE_SOCKET") or sys.exit("BEIGE_TEST_ENGINE_SOCKET is not set: scripts/engine.sh up prints it")
failures = []


def matches(expected, got):
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part.rstrip()) if i else re.escape(part) for i, part in enumerate(line.rstrip().split("..."))) + r"[ \t]*\n"
    return re.fullmatch(pattern, got if got.endswith("\n") or not got else got + "\n") is not None


def commands_of(page):
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(), re.M | re.S):
        command, expected = None, []
        for line in block.splitlines():
            if line.startswith("$ "):
                if command:
                    yield command, expected
                command, expected = line[2:], []
            elif line.startswith("> ") and command and not expected:
                command += "\n" + line[2:]
            else:
                expected.append(line)
        if command:
            yield command, expected


def check_links(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target and not (page.parent / target).exists():
            failures.append(f"{page.relative_to(ROOT)}: link to {target}, which does not exist")


def run_page(page):
    home = pathlib.Path(tempfile.mkdtemp(prefix="bgdocs-", dir="/tmp"))
    shutil.copytree(ROOT / "examples/quickstart", home, dirs_exist_ok=True)
    home.chmod(0o700)
    env = dict(os.environ, BEIGE_HOME=str(home), PATH=f"{BIN}:{os.environ['PATH']}", DOCKER_HOST=f"unix://{ENGINE}", LANG="C.UTF-8")
    ran = 0
    try:
        for command, expected in commands_of(page):
            done = subprocess.run(["bash", "-c", command], cwd=home, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
            ran += 1
            got = done.stdout.replace(str(home), "~/.beige")
            if not matches(expected, got):
                failures.append(f"{page.relative_to(ROOT)}: $ {command}\n--- shown\n" + "\n".join(expected) + f"\n--- printed (status {done.returncode})\n{got}")
    finally:
        subprocess.run([BIN / "beige", "--home", str(home), "down", "--delete-sandboxes"], env=env, capture_output=True)
        shutil.rmtree(home, ignore_errors=True)
    return ran


total = 0
for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]:
    check_links(page)
    if "```console\n" in page.read_text():
        total += run_page(page)
print("\n\n".join(failures))
print(f"{total} commands of the documentation run, {len(failures)} problems")
sys.exit(1 if failures or total == 0 else 0)
