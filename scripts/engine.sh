#!/usr/bin/env bash
# Finds the container engine of this machine, or runs a dockerd of our own beside whatever else is here.
#   up      prints the socket of an engine that answers; starts one when there is none
#   down    stops what `up` started in this state folder, and only that; --purge removes its images and containers too
#   status  says which engine answers; exit status 1 when none does
#   env     prints `export DOCKER_HOST=...` for a shell
# --state DIR: where our own dockerd keeps everything (default: ~/.local/state/beige/engine). Also BEIGE_ENGINE_STATE.
# --own: don't look for another engine, start ours.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() { sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; echo "usage: scripts/engine.sh up|down|status|env [--state DIR] [--own] [--purge]"; }

STATE=${BEIGE_ENGINE_STATE:-${XDG_STATE_HOME:-${HOME:-/root}/.local/state}/beige/engine}
COMMAND='' OWN='' PURGE=''
while [ $# -gt 0 ]; do
  case $1 in
    up|down|status|env) COMMAND=$1 ;;
    --state) [ $# -ge 2 ] || die "--state: wants a folder"; STATE=$2; shift ;;
    --state=*) STATE=${1#*=} ;;
    --own) OWN=1 ;;
    --purge) PURGE=1 ;;
    -h|--help) usage; exit 0 ;;
    *) usage >&2; echo "beige: engine.sh: unknown argument $1" >&2; exit 2 ;;
  esac
  shift
done
[ -n "$COMMAND" ] || { usage >&2; exit 2; }
case $STATE in /*) ;; *) STATE=$PWD/$STATE ;; esac
SOCKET=$STATE/docker.sock
[ ${#SOCKET} -le 80 ] || die "--state: $STATE: too long: a socket's path ends at 107 bytes and the engine adds to it; name a folder of at most 68 bytes"

# One bridge and one address range per state folder, so that two of ours never share any.
BRIDGE=bge$(printf '%s' "$STATE" | cksum | awk '{ printf "%08x", $1 }')

find_engine() {
  local candidate
  for candidate in "${DOCKER_HOST:-}" /var/run/docker.sock "$SOCKET"; do
    candidate=${candidate#unix://}
    case $candidate in /*) ;; *) continue ;; esac
    [ -z "$OWN" ] || [ "$candidate" = "$SOCKET" ] || continue
    if engine_answers "$candidate"; then echo "$candidate"; return 0; fi
  done
  return 1
}

# The pid in our pidfile, if it still is a dockerd that was started for our socket: pids are used again.
our_pid() {
  local pid
  pid=$(cat "$STATE/docker.pid" 2>/dev/null) || return 1
  [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ] || return 1
  tr '\0' '\n' <"/proc/$pid/cmdline" | grep -qxF "unix://$SOCKET" || return 1
  echo "$pid"
}

# Only those in our network namespace share bridges and firewall chains with us.
other_dockerds() {
  local pid ours
  ours=$(our_pid || true)
  for pid in $(pgrep -x dockerd || true); do
    [ "$pid" != "$ours" ] || continue
    [ "$(as_root readlink "/proc/$pid/ns/net")" = "$(readlink /proc/self/ns/net)" ] && echo "$pid"
  done
  return 0
}

# A /16 of which no address is on an interface or in a route: its first /24 is the bridge's, the rest the pool.
free_subnet() {
  local second used
  used=$(ip -4 -o addr show; ip -4 route show)
  for second in 27 26 25 24 23 22 21 20 29 31; do
    grep -q "172\.$second\." <<<"$used" || { echo "172.$second"; return 0; }
  done
  die "no free address range among 172.20.0.0/16 to 172.31.0.0/16 for the engine's bridge; remove an unused bridge (ip link)"
}

refuse_if_harmful() {
  local others
  others=$(other_dockerds | xargs)
  [ -n "$others" ] && ip link show docker0 >/dev/null 2>&1 || return 0
  say "a dockerd runs here (pid $others) but does not answer, and a second one would take its bridge docker0 away"
  [ "$(id -u)" -eq 0 ] || die "join its group and log in again: sudo adduser $(id -un) docker; or run this as root"
  die "set DOCKER_HOST to its socket, or stop it"
}

close_other_descriptors() {
  local fd
  for fd in /proc/"$BASHPID"/fd/*; do
    fd=${fd##*/}
    case $fd in 0|1|2|255) ;; *) eval "exec $fd>&-" ;; esac
  done
}

start_ours() {
  local subnet options=() shared
  refuse_if_harmful
  command -v dockerd >/dev/null || PATH=$PATH:/usr/sbin:/sbin
  mkdir -p -m 0700 "$STATE"
  rm -f "$STATE/docker.pid"
  subnet=$(free_subnet)
  shared=$(other_dockerds)
  if [ -n "$shared" ]; then
    # A dockerd that starts rewrites the DOCKER chains, which are another's: ours goes without a firewall, and so its
    # containers have no way out of the machine. Sandboxes with egress mode none don't miss it.
    options+=(--iptables=false --ip6tables=false)
    say "another dockerd runs here: the new one leaves the firewall alone, its containers can't reach the outside"
  else
    as_root iptables -S FORWARD 2>/dev/null | sed -n 's/^-P FORWARD //p' >"$STATE/forward-policy"
    as_root iptables -n -L DOCKER >/dev/null 2>&1 && touch "$STATE/chains-were-there"
  fi
  ip link show "$BRIDGE" >/dev/null 2>&1 || as_root ip link add "$BRIDGE" type bridge
  as_root ip addr replace "$subnet.0.1/24" dev "$BRIDGE"
  as_root ip link set "$BRIDGE" up
  (
    # A session of its own and no descriptor of ours: it outlives this script and whoever waits for the end of its output.
    exec >"$STATE/log" 2>&1 </dev/null
    close_other_descriptors
    as_root setsid --fork dockerd --host "unix://$SOCKET" --group "$(id -gn)" --data-root "$STATE/data" \
      --exec-root "$STATE/exec" --pidfile "$STATE/docker.pid" --bridge "$BRIDGE" \
      --default-address-pool "base=$subnet.128.0/17,size=24" --shutdown-timeout 5 "${options[@]}"
  )
  wait_for_ours
}

wait_for_ours() {
  local tries
  for tries in $(seq 300); do
    if engine_answers "$SOCKET"; then say "started dockerd (pid $(cat "$STATE/docker.pid"), log $STATE/log)"; return 0; fi
    [ "$tries" -lt 20 ] || our_pid >/dev/null || break
    sleep 0.1
  done
  tail -n 20 "$STATE/log" >&2
  stop_ours >/dev/null 2>&1 || true
  die "dockerd: did not answer on $SOCKET; the end of $STATE/log stands above; an own engine can be named with DOCKER_HOST=unix:///path/to/docker.sock"
}

# dockerd leaves its bridges, its chains and a FORWARD policy of DROP behind.
undo_network() {
  local table rule link pattern=DOCKER
  for link in "$BRIDGE" "$@"; do
    as_root ip link del "$link" 2>/dev/null || true
    pattern+="|$link"
  done
  [ -e "$STATE/forward-policy" ] && [ -z "$(other_dockerds)" ] || return 0
  [ "$(cat "$STATE/forward-policy")" != ACCEPT ] || as_root iptables -P FORWARD ACCEPT
  if [ ! -e "$STATE/chains-were-there" ]; then
    for table in filter nat; do
      as_root iptables -t "$table" -S | sed -n 's/^-A //p' | grep -E "$pattern" | while read -r rule; do
        # shellcheck disable=SC2086  # a rule is several words
        as_root iptables -t "$table" -D $rule 2>/dev/null || true
      done
      as_root iptables -t "$table" -S | sed -n 's/^-N \(DOCKER.*\)/\1/p' | while read -r rule; do
        as_root iptables -t "$table" -X "$rule" 2>/dev/null || true
      done
    done
  fi
  as_root rm -f "$STATE/forward-policy" "$STATE/chains-were-there"
}

stop_ours() {
  local pid bridges=() tries
  if ! pid=$(our_pid); then
    say "no engine of ours runs in $STATE"
  else
    mapfile -t bridges < <(engine_get "$SOCKET" /networks 2>/dev/null |
      jq -r '.[] | select(.Driver == "bridge" and .Name != "bridge") | "br-" + .Id[:12]' 2>/dev/null || true)
    as_root kill "$pid"
    for tries in $(seq 300); do [ -d "/proc/$pid" ] || break; sleep 0.1; done
    [ ! -d "/proc/$pid" ] || die "dockerd: pid $pid did not stop in 30 s; see $STATE/log"
    say "stopped dockerd (pid $pid)"
  fi
  undo_network "${bridges[@]}"
}

# Takes the data with it, but only out of a folder that an `up` has filled.
purge() {
  [ -z "$(our_pid)" ] || return 0
  [ -d "$STATE/data" ] || [ -e "$STATE/log" ] || return 0
  as_root rm -rf --one-file-system "$STATE/data" "$STATE/exec" "$STATE/docker.sock" "$STATE/docker.pid" "$STATE/log" "$STATE/lock"
  rmdir "$STATE" 2>/dev/null || true
}

case $COMMAND in
  up)
    mkdir -p -m 0700 "$STATE"
    exec 9>"$STATE/lock"   # two callers at once start one engine
    flock 9
    # Where there is a service manager, installing the package has started one.
    find_engine || { install_engine_deps && find_engine; } || { start_ours && echo "$SOCKET"; } ;;
  down)
    [ -d "$STATE" ] || exit 0
    stop_ours
    [ -z "$PURGE" ] || purge ;;
  status)
    if socket=$(find_engine); then
      version=$(engine_get "$socket" /version | jq -r '(.Components[0].Name // "engine") + " " + .Version + ", API " + .ApiVersion')
      echo "$socket: $version$([ "$socket" != "$SOCKET" ] || echo ", started by engine.sh, pid $(our_pid)")"
    else
      echo "no engine answers; scripts/engine.sh up starts one" >&2
      exit 1
    fi ;;
  env)
    socket=$(find_engine) || die "no engine answers; scripts/engine.sh up starts one"
    echo "export DOCKER_HOST=unix://$socket" ;;
esac
