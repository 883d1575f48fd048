#!/usr/bin/env bash
# From a fresh Debian 12 machine to a working agent: installs what is needed, builds, starts a container engine if none
# answers, builds the sandbox image, starts Beige on a copy of examples/quickstart in ~/.beige-quickstart, and shows a
# tool call, a denied call and the audit lines. Run again it takes seconds and keeps what you changed in that home.
#   --down   stops it and removes its sandboxes, its home and the engine that it started
# BEIGE_QUICKSTART_HOME names another home.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() { sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; echo "usage: scripts/quickstart.sh [--down]"; }
COMMAND=up
for argument in "$@"; do
  case $argument in
    --down) COMMAND=down ;;
    -h|--help) usage; exit 0 ;;
    *) usage >&2; echo "beige: quickstart.sh: unknown argument $argument" >&2; exit 2 ;;
  esac
done

QUICKSTART=${BEIGE_QUICKSTART_HOME:-${HOME:?HOME is not set}/.beige-quickstart}
MARKER=$QUICKSTART/.quickstart   # only a home that this script made is removed by it
AGENT=hello
BIN=$ROOT/build/release/bin
LOG=$ROOT/build/quickstart.log
export BEIGE_HOME=$QUICKSTART

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then BOLD=$'\e[1m' PLAIN=$'\e[0m'; else BOLD='' PLAIN=''; fi
section() { printf '\n%s%s%s\n' "$BOLD" "$1" "$PLAIN"; }

# quiet WHAT COMMAND...: the output goes to a log, of which a failure shows the end.
quiet() {
  local what=$1 started=$SECONDS
  shift
  printf '%s ...' "$what"
  if "$@" >"$LOG" 2>&1 </dev/null; then printf ' %d s\n' $((SECONDS - started)); return 0; fi
  printf ' failed\n'
  tail -n 40 "$LOG" >&2
  die "$what: failed; the end of $LOG stands above"
}

# show COMMAND...: what a person would type, then what it prints. A denied call has an exit status of its own.
show() {
  local status=0 word line='$ beige'
  for word in "$@"; do
    case $word in *[!A-Za-z0-9_/.=,:-]*|'') line+=" '$word'" ;; *) line+=" $word" ;; esac
  done
  printf '%s%s%s\n' "$BOLD" "$line" "$PLAIN"
  "$BIN/beige" "$@" </dev/null || status=$?
  return "$status"
}

use_engine() {
  [ "$1" = /var/run/docker.sock ] || export DOCKER_HOST=unix://$1
}

down() {
  local socket
  if [ ! -d "$QUICKSTART" ]; then say "$QUICKSTART: not there, nothing to remove"; bash "$ROOT/scripts/engine.sh" down --purge; return 0; fi
  [ -e "$MARKER" ] || die "$QUICKSTART: not made by quickstart.sh, so left alone; remove it yourself if you want it gone"
  [ -x "$BIN/beige" ] || die "$BIN/beige: not built, and only it can remove the sandboxes; run scripts/quickstart.sh first"
  socket=$(bash "$ROOT/scripts/engine.sh" up)   # sandboxes can only be removed through an engine that runs
  use_engine "$socket"
  "$BIN/beige" down --delete-sandboxes || die "beige down: failed, see above; the home $QUICKSTART is left as it is"
  # A workspace belongs to the uid of its sandbox.
  rm -rf "$QUICKSTART" 2>/dev/null || as_root rm -rf "$QUICKSTART"
  bash "$ROOT/scripts/engine.sh" down --purge
  say "removed $QUICKSTART and its sandboxes; the build in $ROOT/build stays"
}

# Copies what is not there yet: a file that you changed stays as you left it.
fill_home() {
  if [ -d "$QUICKSTART" ] && [ ! -e "$MARKER" ] && [ -n "$(ls -A "$QUICKSTART")" ]; then
    die "$QUICKSTART: exists and was not made by quickstart.sh; name another home in BEIGE_QUICKSTART_HOME"
  fi
  mkdir -p -m 0700 "$QUICKSTART"
  touch "$MARKER"
  cp -R --no-clobber "$ROOT/examples/quickstart/." "$QUICKSTART/"
}

start_beige() {
  # Programs that were built again since: the running ones are the old ones.
  if [ -e "$QUICKSTART/run/up.json" ] && [ -n "$(find "$BIN" -maxdepth 1 -type f -newer "$QUICKSTART/run/up.json")" ] &&
     "$BIN/beige" status >/dev/null 2>&1; then
    quiet "stopping the older build" "$BIN/beige" down
  fi
  "$BIN/beige" status >/dev/null 2>&1 || show up --detach
}

# A tool that the configuration knows and the agent may not call; without one, a name that nobody knows.
denied_tool() {
  local folder
  for folder in "$QUICKSTART"/tools/*/; do
    folder=$(basename "$folder")
    [ "$folder" = kv ] || [ "$folder" = '*' ] || { echo "$folder"; return 0; }
  done
  echo deploy
}

demonstrate() {
  local denied script
  section "A tool call: kv runs outside the sandbox, reached through the agent's own socket"
  show exec "$AGENT" -- kv set greeting hi
  show exec "$AGENT" -- kv get greeting
  denied=$(denied_tool)
  section "A denied call: $denied is not in the agent's list, so it has no launcher; written to the socket by hand it is refused too"
  script='import socket; s = socket.socket(socket.AF_UNIX); s.connect("/beige/gateway.sock")'
  script+="; s.sendall(b'{\"type\":\"tool_request\",\"tool\":\"$denied\",\"args\":[]}\\n'); print(s.makefile().readline(), end=\"\")"
  printf '%s$ beige exec %s -- python3 -c ... {"type":"tool_request","tool":"%s","args":[]}%s\n' "$BOLD" "$AGENT" "$denied" "$PLAIN"
  "$BIN/beige" exec "$AGENT" -- python3 -c "$script" </dev/null
  section "The audit log: an allowed call is a begin and an end, a denied one a begin with the reason"
  show audit tail
}

next_steps() {
  section "Now it is yours"
  printf '  export PATH=%q:$PATH BEIGE_HOME=%q%s\n' "$BIN" "$QUICKSTART" "${DOCKER_HOST:+ DOCKER_HOST=$DOCKER_HOST}"
  cat <<TEXT
  beige exec -it $AGENT -- bash          a shell in the sandbox
  beige get agents                       what runs; beige describe agent $AGENT says why
  \$EDITOR $QUICKSTART/agents.d/*.yaml   edits apply as you save
  beige audit tail                       who called what
  $ROOT/scripts/quickstart.sh --down     removes all of it
TEXT
}

up() {
  local socket
  [ -d "$ROOT/examples/quickstart" ] || die "examples/quickstart: missing from this checkout"
  mkdir -p "$ROOT/build"
  install_sections build engine image
  quiet "configuring" cmake --preset release -DBEIGE_UNITY=ON -S "$ROOT"
  quiet "building (some minutes the first time, log in $LOG)" cmake --build "$ROOT/build/release" --target beige_all -j "$(nproc)"
  socket=$(bash "$ROOT/scripts/engine.sh" up)
  echo "engine: $socket"
  use_engine "$socket"
  bash "$ROOT/sandbox-image/build.sh" --engine "$socket"
  fill_home
  section "Starting Beige in $QUICKSTART"
  start_beige
  # The first start loads the image into the engine, which takes some ten seconds.
  show wait agent "$AGENT" --for=condition=Ready --timeout=180s || {
    "$BIN/beige" describe agent "$AGENT" >&2 || true
    die "agent $AGENT: not Ready; the conditions above say why, beige logs $AGENT says more"
  }
  demonstrate
  next_steps
}

cd "$ROOT"
"$COMMAND"
