# shellcheck shell=bash
# Shared by the scripts of this folder; sourced, not run. Sets ROOT (the top of the repository).
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
export LC_ALL=C.UTF-8

# Progress goes to stderr, so that stdout holds only what a script is asked for.
say() { printf 'beige: %s\n' "$*" >&2; }
die() { printf 'beige: %s\n' "$*" >&2; exit 1; }

# The API of the engine behind a Unix socket. A closed or hung socket counts as no answer.
engine_answers() { [ -S "$1" ] && curl -fs --max-time 5 --unix-socket "$1" http://engine/_ping >/dev/null 2>&1; }
engine_get() { curl -s --max-time 30 --unix-socket "$1" "http://engine$2"; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else die "this step needs root: run it as root or install sudo: $*"
  fi
}

# packages SECTION...: what stands below those [headings] of packages.txt, less what a command makes unnecessary.
packages() {
  local section name command
  for section in "$@"; do
    awk -v want="[$section]" '{ sub(/#.*/, "") } /^\[/ { on = ($1 == want); next } on && NF { print $1, $2 }' \
      "$ROOT/scripts/packages.txt"
  done | while read -r name command; do
    [ -n "$command" ] && PATH=$PATH:/usr/sbin:/sbin command -v "$command" >/dev/null || echo "$name"
  done
}

missing_packages() {
  # One dpkg-query for all: asking one by one takes a second.
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' 2>/dev/null | sed -n 's/^ii //p')
  packages "$@" | grep -vxF -f <(printf '%s\n' "$installed") || true
}

apt_lists_present() { compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; }

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
    install -y -qq --no-install-recommends "$@" </dev/null
}

# A half-fetched list or a mirror that moved on is healed by one update and one retry.
install_sections() {
  local missing started=$SECONDS log
  command -v dpkg-query >/dev/null || die "not a Debian system: install by hand what scripts/packages.txt lists"
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${#missing[@]} packages: ${missing[*]}"
  log=$(mktemp)
  if ! apt_lists_present || ! apt_install "${missing[@]}" >"$log" 2>&1; then
    as_root apt-get -o DPkg::Lock::Timeout=300 update -qq </dev/null >>"$log" 2>&1 ||
      say "apt-get update: failed, going on with the package lists that are here"
    if ! apt_install "${missing[@]}" >>"$log" 2>&1; then
      tail -n 20 "$log" >&2
      rm -f "$log"
      die "apt-get install: failed, see the lines above; install these by hand and try again: ${missing[*]}"
    fi
  fi
  rm -f "$log"
  say "installed in $((SECONDS - started)) s"
}

install_build_deps() { install_sections build; }
install_tidy_deps() { install_sections tidy; }
# docker.io would start its own daemon on install; whoever has a service manager wants that, so it is left alone.
install_engine_deps() { install_sections engine; }
install_image_deps() { install_sections image; }
