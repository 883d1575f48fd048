#!/usr/bin/python3 -I
"""kv: keeps small values in files, one per key. Runs outside the agent's sandbox, in a cell that sees only this folder and its data."""
import os
import sys

USAGE = "usage: kv set KEY VALUE|- | kv get KEY | kv list | kv delete KEY"
DIRECTORY = os.environ["KV_DIR"]
MAX_KEY = 100
MAX_VALUE = 16 << 20


def fail(status, message):
    sys.stderr.write(f"kv: {message}\n")
    sys.exit(status)


def path_of(key):
    raw = os.fsencode(key)
    if not 1 <= len(raw) <= MAX_KEY:
        fail(2, f"key: want 1 to {MAX_KEY} bytes, got {len(raw)}")
    # Hexadecimal, so that no key can name another file.
    return os.path.join(DIRECTORY, raw.hex())


def set_value(key, value):
    path = path_of(key)
    # A value from stdin is kept byte for byte; a word gets the newline that makes `kv get` read well.
    data = sys.stdin.buffer.read(MAX_VALUE + 1) if value == "-" else os.fsencode(value) + b"\n"
    if len(data) > MAX_VALUE:
        fail(1, f"{key}: value is larger than {MAX_VALUE} bytes")
    temporary = f"{path}.{os.getpid()}.new"
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def get_value(key):
    try:
        with open(path_of(key), "rb") as file:
            sys.stdout.buffer.write(file.read())
    except FileNotFoundError:
        fail(1, f"{key}: no such key")


def list_keys():
    names = sorted(bytes.fromhex(name) for name in os.listdir(DIRECTORY) if "." not in name)
    sys.stdout.buffer.write(b"".join(name + b"\n" for name in names))


def delete_key(key):
    try:
        os.unlink(path_of(key))
    except FileNotFoundError:
        fail(1, f"{key}: no such key")


COMMANDS = {"set": (set_value, 2), "get": (get_value, 1), "list": (list_keys, 0), "delete": (delete_key, 1)}


def main(arguments):
    function, count = COMMANDS.get(arguments[0] if arguments else "", (None, 0))
    if function is None or len(arguments) - 1 != count:
        fail(2, USAGE)
    function(*arguments[1:])


main(sys.argv[1:])
