#!/usr/bin/env python3
"""What packaging/ installs, judged by systemd: units without a complaint, users that come to be, directories with the owners and modes of the
table, and the promises of SECURITY.md in the units. argv[1] is the repository. Never touches this machine's own users or directories."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
PACKAGING = ROOT / "packaging"
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=50)


def settings(unit):
    found = {}
    for line in (PACKAGING / "systemd" / unit).read_text().splitlines():
        if match := re.fullmatch(r"(\w+)=(.*)", line):
            found.setdefault(match[1], []).append(match[2])
    return found


def verify(root):
    """Verified in a root of its own, where the programs exist; docker.service is only wanted, so a machine without it is fine."""
    units = root / "units"
    units.mkdir()
    program = root / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for unit in (PACKAGING / "systemd").iterdir():
        text = unit.read_text().replace("/usr/bin/beige-operator", str(program)).replace("/usr/bin/beige-gateway", str(program))
        (units / unit.name).write_text(text)
    done = run("systemd-analyze", "verify", "--man=no", *[str(unit) for unit in sorted(units.iterdir())])
    complaints = [line for line in (done.stdout + done.stderr).splitlines() if str(units) in line or "beige-" in line]
    check(done.returncode == 0 and not complaints, "systemd-analyze verify: " + done.stdout + done.stderr)
    # A unit with a mistake must not pass, or this test says nothing.
    (units / "broken.service").write_text("[Service]\nExecStart=" + str(program) + "\nProtectSistem=strict\n")
    broken = run("systemd-analyze", "verify", "--man=no", str(units / "broken.service"))
    check("ProtectSistem" in broken.stdout + broken.stderr, "systemd-analyze verify does not see a misspelt setting")


def accounts(root):
    """name -> number, as systemd-sysusers makes them in a root of its own."""
    (root / "etc").mkdir(exist_ok=True)
    done = run("systemd-sysusers", f"--root={root}", str(PACKAGING / "sysusers.d/beige.conf"))
    check(done.returncode == 0, "systemd-sysusers: " + done.stderr)
    users = {line.split(":")[0]: int(line.split(":")[2]) for line in (root / "etc/passwd").read_text().splitlines()}
    groups = {line.split(":")[0]: line.split(":") for line in (root / "etc/group").read_text().splitlines()}
    check({"beige-operator", "beige-gateway"} <= set(users), f"users: {users}")
    check("beige-operator" in groups["docker"][3].split(","), "the operator is not in group docker")
    check("beige-gateway" not in groups["docker"][3].split(","), "the gateway is in group docker")
    for user in ("beige-operator", "beige-gateway"):
        check(user in groups["beige"][3].split(","), f"{user} is not in group beige")
    return users, {name: int(fields[2]) for name, fields in groups.items()}


def directories(root, users, groups):
    for _ in range(2):  # at each boot again, on what is there
        done = run("systemd-tmpfiles", f"--root={root}", "--create", str(PACKAGING / "tmpfiles.d/beige.conf"))
        check(done.returncode == 0 and not done.stderr, "systemd-tmpfiles: " + done.stderr)
        for name in ("operator.yaml", "gateway.yaml"):
            (root / "var/lib/beige" / name).touch()
    operator, gateway = users["beige-operator"], users["beige-gateway"]
    for path, owner, mode in [(".", 0, 0o750), ("data", 0, 0o750), ("agents.d", operator, 0o700), ("data/operator", operator, 0o700), ("bin", operator, 0o750),
                              ("data/gateway", gateway, 0o700), ("logs", gateway, 0o700), ("run", gateway, 0o700), ("sessions", gateway, 0o700)]:
        info = (root / "var/lib/beige" / path).stat()
        check(info.st_uid == owner and info.st_gid == groups["beige"] and info.st_mode & 0o7777 == mode, f"{path}: uid {info.st_uid}, gid {info.st_gid}, mode {info.st_mode & 0o7777:o}")
    for name, group in (("operator.yaml", "beige-operator"), ("gateway.yaml", "beige")):
        info = (root / "var/lib/beige" / name).stat()
        check(info.st_uid == 0 and info.st_gid == groups[group] and info.st_mode & 0o7777 == 0o640, f"{name}: {info}")
    check(os.readlink(root / "var/lib/beige/api-token") == "data/gateway/api-token", "api-token is no link")


def promises():
    operator, gateway = settings("beige-operator.service"), settings("beige-gateway.service")
    check(operator["User"] != gateway["User"], "one user for both")
    check("docker" not in " ".join(gateway.get("SupplementaryGroups", [])), "the gateway is given the engine's group")
    for name, unit in (("operator", operator), ("gateway", gateway)):
        for key, value in {"NoNewPrivileges": "yes", "ProtectSystem": "strict", "LimitCORE": "0", "Restart": "always"}.items():
            check(unit.get(key) == [value], f"{name}: {key} is {unit.get(key)}")
        check(int(unit["LimitNOFILE"][0]) >= 65536, f"{name}: LimitNOFILE")
    written = gateway["ReadWritePaths"][0].split()
    check(all(path.startswith("/var/lib/beige/") for path in written), f"the gateway writes {written}")
    check(not any(path.endswith(("operator", "agents.d", "/beige")) for path in written), f"the gateway writes {written}")
    check(gateway["CapabilityBoundingSet"] == [""], "the gateway keeps capabilities")
    check(gateway["TemporaryFileSystem"] == ["/run:ro"], "the directories of engine sockets are not hidden from the gateway")
    # With one of these bubblewrap can make no cell.
    for key in ("RestrictNamespaces", "ProtectKernelTunables", "ProtectKernelLogs", "ProtectProc", "ProcSubset", "PrivateUsers"):
        check(key not in gateway, f"the gateway can make no cell with {key}=")


promises()
with tempfile.TemporaryDirectory() as temporary:
    root = pathlib.Path(temporary)
    verify(root)
    users, groups = accounts(root)
    if os.geteuid() == 0:  # only root gives directories away
        directories(root, users, groups)
print("\n".join(failures))
sys.exit(1 if failures else 0)
