#!/usr/bin/env python3
"""Holds the dependency arrows of ARCHITECTURE.md: who may include whose headers, and which files may pay for heavy ones."""
import pathlib
import re
import sys
import tempfile

# Folder -> folders it may include (itself always). The longest matching folder counts.
ALLOWED = {
    "base": set(),
    "protocol": {"base"},
    "crds": {"base"},
    "api": {"base", "crds"},
    "http": {"base"},
    "http/client": {"base"},
    "runtime": {"base"},
    "runtime/engine": {"base", "http/client", "runtime"},
    "runtime/docker": {"base", "runtime", "runtime/engine"},
    "runtime/podman": {"base", "runtime", "runtime/engine"},
    "runtime/fake": {"base", "runtime", "runtime/engine"},
    "operator/queue": {"base", "api"},
    "operator/store": {"base", "api"},
    "operator/source": {"base", "api", "operator/store"},
    "operator/admin": {"base", "api"},
    "operator/reconcile": {"base", "api", "runtime", "operator/queue", "operator/store", "operator/source", "operator/admin"},
    "operator/app": {"base", "api", "http", "runtime", "runtime/engine", "runtime/docker", "operator"},
    "gateway/link": {"base", "api", "protocol", "gateway/calls"},
    "gateway/control": {"base", "api", "protocol", "gateway/link", "gateway/audit", "gateway/calls"},
    "gateway/policy": {"base", "api", "gateway/calls"},
    "gateway/audit": {"base", "api", "protocol", "gateway/calls", "gateway/metrics"},
    "gateway/calls": {"base", "api", "protocol", "gateway/audit", "gateway/policy", "gateway/roster", "gateway/metrics", "gateway/tools", "gateway/control"},
    "gateway/tools": {"base", "api", "protocol", "gateway/control", "gateway/calls"},
    "gateway/roster": {"base", "api", "protocol", "gateway"},
    "gateway/publish": {"base", "api"},
    "gateway/metrics": {"base", "api"},
    "gateway/llm": {"base", "api", "http/client", "gateway/metrics"},
    "gateway/sessions": {"base", "api", "gateway/policy", "protocol", "gateway/llm", "gateway/calls", "gateway/roster", "gateway/audit", "gateway/metrics"},
    "gateway/config": {"base", "api", "gateway/audit", "gateway/roster", "gateway/calls"},
    "gateway/admin": {"base", "api", "gateway/roster", "gateway/audit", "gateway/calls"},
    "gateway/http": {"base", "api", "http", "protocol", "gateway/llm", "gateway/sessions", "gateway/config", "gateway/calls", "gateway/policy", "gateway/roster", "gateway/audit", "gateway/metrics"},
    "gateway/cli_socket": {"base", "api", "protocol", "gateway/calls", "gateway/roster", "gateway/link"},
    "gateway/app": {"base", "api", "http", "protocol", "gateway"},
    "cli": {"base", "api", "crds", "protocol", "cli/doctor"},
    "cli/doctor": {"base", "api", "protocol", "cli", "runtime/engine"},  # of which it takes the look for sockets only
    "bench": {"base", "api", "protocol"},
}
# Header -> how many .cpp files of the product may include it, directly.
FEW = {"boost/beast": 1, "boost/asio": 3, "CLI/CLI.hpp": 2, "cpprest/": 1, "curl/curl.h": 2, "histedit.h": 1, "yaml-cpp/": 2}
# Folders that must stay pure: no I/O headers.
PURE = {"gateway/policy": ("fcntl.h", "sys/socket.h", "fstream", "base/files.h", "base/loop.h", "base/log.h"),}
PURE_FILES = {"plan.cpp": ("fcntl.h", "sys/socket.h", "fstream", "base/files.h", "base/loop.h", "base/log.h", "base/unix_socket.h"),
              "conditions.cpp": ("fcntl.h", "sys/socket.h", "fstream", "base/files.h", "base/loop.h", "base/log.h", "base/unix_socket.h")}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
OURS = ("base/", "protocol/", "api/", "crds/", "http/", "runtime/", "operator/", "gateway/", "cli/", "tests/", "e2e/", "bench/")


def folder_of(path, table):
    parts = path.split("/")[:-1]
    while parts:
        name = "/".join(parts)
        if name in table:
            return name
        parts.pop()
    return None


def problems(root):
    found, heavy = [], {}
    root = pathlib.Path(root)
    for source in sorted(root.rglob("*")):
        if source.suffix not in (".h", ".cpp") or not source.is_file():
            continue
        name = source.relative_to(root).as_posix()
        if name.startswith(("build", ".git", "tests/", "e2e/")):
            continue
        top = name.split("/")[0] + "/"
        if top not in OURS:
            continue
        folder = folder_of(name, ALLOWED)
        if folder is None:
            found.append(f"{name}: its folder is not in the table of tests/arrows/arrows.py")
            continue
        for quote, header in INCLUDE.findall(source.read_text(errors="replace")):
            for prefix in FEW:
                if header.startswith(prefix):
                    heavy.setdefault(prefix, set()).add(name)
            pure = PURE.get(folder, ()) + PURE_FILES.get(source.name, ())
            if header in pure:
                found.append(f"{name}: is pure and must not include {header}")
            if quote != '"' or not header.startswith(OURS):
                continue
            target = folder_of(header, ALLOWED)
            allowed = ALLOWED[folder] | {folder}
            if target is None or not any(target == a or target.startswith(a + "/") and a in ("gateway", "operator") for a in allowed):
                found.append(f"{name}: {folder} must not include {header}")
    for prefix, names in heavy.items():
        cpps = sorted(names)
        if len(cpps) > FEW[prefix]:
            found.append(f"{prefix} is included by {len(cpps)} files ({', '.join(cpps)}); at most {FEW[prefix]} may")
    return found


def self_test():
    with tempfile.TemporaryDirectory() as root:
        bad = pathlib.Path(root, "gateway/link")
        bad.mkdir(parents=True)
        (bad / "link.cpp").write_text('#include "gateway/policy/policy.h"\n#include "base/loop.h"\n')
        found = problems(root)
        assert len(found) == 1 and "gateway/policy" in found[0], found
        (bad / "link.cpp").write_text('#include "operator/queue/queue.h"\n')
        assert len(problems(root)) == 1


if sys.argv[1:] == ["--self-test"]:
    self_test()
    sys.exit(0)
lines = problems(sys.argv[1])
print("\n".join(lines) or "all includes follow the table")
sys.exit(1 if lines else 0)
