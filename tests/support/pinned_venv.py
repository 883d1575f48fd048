"""A script's packages from PyPI, in the versions of its requirements.txt, in a virtual environment that is made once."""
import fcntl
import hashlib
import os
import subprocess
import sys


def run_again_in(venv, requirements, script):
    """Makes the environment `venv` when it is not there or is another's, and runs `script` with its interpreter in place of this process."""
    stamp, want = venv / "requirements.sha256", hashlib.sha256(requirements.read_bytes()).hexdigest()
    venv.parent.mkdir(parents=True, exist_ok=True)
    with open(str(venv) + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != want:
            subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
            subprocess.run([venv / "bin/pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "-r", requirements], check=True)
            stamp.write_text(want)
    os.execv(venv / "bin/python", [venv / "bin/python", *script])
