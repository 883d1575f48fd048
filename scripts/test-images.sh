#!/usr/bin/env bash
# Makes the tiny images that the tests use, in the engine that answers on SOCKET:
#   localhost/busybox:test  static busybox with all its applets, /tmp 1777, nothing else
#   localhost/empty:test    no file at all: what a sandbox gets is what Beige mounts
#   localhost/volume:test   busybox with VOLUME, HEALTHCHECK, ENTRYPOINT, USER, ENV and WORKDIR set, all of which
#                           a sandbox must not inherit unless the Agent says so
# Speaks the engine's HTTP API with curl, so it works alike on Docker and Podman and needs no command line tool.
# An image whose label carries the hash of this script and of busybox is left as it is.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() { echo "usage: scripts/test-images.sh SOCKET"; }
[ $# -eq 1 ] || { usage >&2; exit 2; }
case $1 in -h|--help) usage; exit 0 ;; esac
SOCKET=${1#unix://}
engine_answers "$SOCKET" || die "$SOCKET: no engine answers there; start one with scripts/engine.sh up"

is_static() { [ -x "$1" ] && ! ldd "$1" >/dev/null 2>&1; }

# The package busybox-static conflicts with busybox, which a machine may need for its initramfs: so the file is
# taken out of the package, without installing it, unless a static one is there already.
static_busybox() {
  local found=$ROOT/build/cache/busybox/usr/bin/busybox candidate
  for candidate in /usr/bin/busybox /bin/busybox "$found" "$ROOT/build/cache/busybox/bin/busybox"; do
    if is_static "$candidate"; then echo "$candidate"; return 0; fi
  done
  mkdir -p "$ROOT/build/cache/busybox"
  (cd "$ROOT/build/cache/busybox" && apt-get download -qq busybox-static >&2 && dpkg -x busybox-static_*.deb .) ||
    die "busybox: could not be fetched with apt-get download busybox-static; install that package and try again"
  for candidate in "$found" "$ROOT/build/cache/busybox/bin/busybox"; do
    if is_static "$candidate"; then echo "$candidate"; return 0; fi
  done
  die "busybox: the package busybox-static holds no static busybox"
}

BUSYBOX=$(static_busybox)
HASH=$(cat "${BASH_SOURCE[0]}" "$BUSYBOX" | sha256sum | cut -c1-16)
LABEL=dev.beige.test-image

present() { engine_get "$SOCKET" "/images/$1/json" | grep -q "\"$LABEL\": *\"$HASH\""; }

# import NAME TAR [CHANGE...]: each change is a Dockerfile instruction.
import() {
  local name=$1 tar=$2 query answer change older
  shift 2
  older=$(engine_get "$SOCKET" "/images/$name/json" | jq -r '.Id // empty')
  query="fromSrc=-&repo=${name%:*}&tag=${name##*:}"
  for change in "LABEL $LABEL=$HASH" "$@"; do query+="&changes=$(jq -rn --arg c "$change" '$c|@uri')"; done
  answer=$(curl -sS --unix-socket "$SOCKET" -X POST -H 'Content-Type: application/x-tar' -H 'Expect:' \
    --data-binary "@$tar" "http://engine/images/create?$query") || die "$name: import failed: $answer"
  present "$name" || die "$name: import failed: $answer"
  # What the name stood for before would stay as <none>; the engine keeps it if a container still uses it.
  [ -z "$older" ] || curl -s --unix-socket "$SOCKET" -X DELETE "http://engine/images/$older" >/dev/null
  say "made $name"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make_busybox_tar() {
  [ ! -e "$work/busybox.tar" ] || return 0
  local root=$work/root applet
  mkdir -p "$root/bin" "$root/tmp" && chmod 0755 "$root" && chmod 1777 "$root/tmp"
  install -m 0755 "$BUSYBOX" "$root/bin/busybox"
  for applet in $("$BUSYBOX" --list); do
    [ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
  done
  tar -C "$root" --owner=0 --group=0 --numeric-owner --mtime=@0 -cf "$work/busybox.tar" .
}

if ! present localhost/busybox:test; then
  make_busybox_tar
  import localhost/busybox:test "$work/busybox.tar" 'CMD ["/bin/sh"]'
fi
if ! present localhost/empty:test; then
  tar -cf "$work/empty.tar" --files-from /dev/null
  import localhost/empty:test "$work/empty.tar"
fi
if ! present localhost/volume:test; then
  make_busybox_tar
  import localhost/volume:test "$work/busybox.tar" \
    'VOLUME ["/workspace","/data"]' 'HEALTHCHECK --interval=1s CMD ["/bin/false"]' \
    'ENTRYPOINT ["/bin/sh","-c","echo the image entrypoint ran; exit 97"]' 'CMD ["ignored"]' \
    'USER 0:0' 'WORKDIR /from-image' 'ENV FROM_IMAGE=yes' 'EXPOSE 8080/tcp'
fi
