#!/usr/bin/env bash
# Builds the default sandbox image, localhost/beige-sandbox:<version>, into build/image/beige-sandbox-<version>.tar, a
# file that `docker load` and `podman load` take and that the operator loads by itself.
#   --engine SOCKET  where to look for a Debian base, and to pull one; an older build of the image there is replaced
#   --output TAR     another file
#   --force          build even if the file is up to date
#
# Two ways to the same content. With an engine that has debian:bookworm-slim or can pull it: the Dockerfile, through the
# engine's API. Else mmdebstrap makes the whole file system in one pass and the image file is written around it: no
# registry, no engine, no second copy through `docker import` and `docker save`. Works as a plain user (mmdebstrap then
# uses a user namespace: package uidmap and a line in /etc/subuid).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"
HERE=$ROOT/sandbox-image
. "$HERE/versions.env"

VERSION=$(head -n 1 "$ROOT/VERSION")
IMAGE=localhost/beige-sandbox:$VERSION
BASE=debian:$DEBIAN_SUITE-slim
ENGINE='' FORCE='' OUTPUT=$ROOT/build/image/beige-sandbox-$VERSION.tar
usage() { sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; echo "usage: sandbox-image/build.sh [--engine SOCKET] [--output TAR] [--force]"; }
while [ $# -gt 0 ]; do
  case $1 in
    --engine) [ $# -ge 2 ] || die "--engine: wants a socket"; ENGINE=${2#unix://}; shift ;;
    --output) [ $# -ge 2 ] || die "--output: wants a file"; OUTPUT=$2; shift ;;
    --force) FORCE=1 ;;
    -h|--help) usage; exit 0 ;;
    *) usage >&2; echo "beige: build.sh: unknown argument $1" >&2; exit 2 ;;
  esac
  shift
done
[ -z "$ENGINE" ] || engine_answers "$ENGINE" || die "--engine: $ENGINE: no engine answers there; start one with scripts/engine.sh up"

case $(uname -m) in
  x86_64) NPM_ARCH=x64 OCI_ARCH=amd64 ;;
  aarch64) NPM_ARCH=arm64 OCI_ARCH=arm64 ;;
  *) die "$(uname -m): no Deno and Node binaries for this machine; x86_64 and aarch64 have them" ;;
esac

INPUTS=$(cd "$HERE" && { cat build.sh Dockerfile packages.txt setup.sh versions.env; echo "$VERSION $OCI_ARCH"; } | sha256sum | cut -c1-16)
LABEL=dev.beige.image-inputs
ENVIRONMENT='["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin","LANG=C.UTF-8","DENO_NO_UPDATE_CHECK=1"]'

up_to_date() { [ -z "$FORCE" ] && [ -s "$OUTPUT" ] && [ "$(cat "$OUTPUT.inputs" 2>/dev/null)" = "$INPUTS" ]; }
engine_has() { engine_get "$ENGINE" "/images/$1/json" | jq -e '.Id' >/dev/null 2>&1; }

# local/ becomes /usr/local. npm's install scripts are not needed: the binaries lie in the packages.
fetch_runtimes() {
  local started=$SECONDS modules=$WORK/npm/node_modules deno node
  say "fetching Deno $DENO_VERSION, Node $NODE_VERSION, npm $NPM_VERSION"
  mkdir -p "$WORK/npm" "$WORK/local/bin" "$WORK/local/lib/node_modules" "$WORK/local/etc"
  (cd "$WORK/npm" && npm install --no-save --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error \
    "deno@$DENO_VERSION" "node-linux-$NPM_ARCH@$NODE_VERSION" "npm@$NPM_VERSION" >"$WORK/npm.log" 2>&1 </dev/null) ||
    { tail -n 10 "$WORK/npm.log" >&2; die "npm: could not fetch Deno and Node; check the network and sandbox-image/versions.env"; }
  deno=$modules/@deno/linux-$NPM_ARCH-glibc/deno node=$modules/node-linux-$NPM_ARCH/bin/node
  [ "$("$node" --version)" = "v$NODE_VERSION" ] || die "node: wanted v$NODE_VERSION, $node says $("$node" --version)"
  "$deno" --version | grep -q "^deno $DENO_VERSION " || die "deno: wanted $DENO_VERSION, $deno says $("$deno" --version | head -n 1)"
  install -m 0755 "$deno" "$node" "$WORK/local/bin/"
  # Node's symbols are 18 MB; Deno's file must stay as it is, since it carries its snapshot behind the program.
  ! command -v strip >/dev/null || strip "$WORK/local/bin/node"
  cp -a "$modules/npm" "$WORK/local/lib/node_modules/npm"
  rm -rf "$WORK/local/lib/node_modules/npm/"{docs,man}
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$WORK/local/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$WORK/local/bin/npx"
  printf 'update-notifier=false\nfund=false\naudit=false\n' >"$WORK/local/etc/npmrc"
  rm -rf "$WORK/npm"
  say "fetched in $((SECONDS - started)) s"
}

package_names() { sed 's/#.*//' "$HERE/packages.txt" | xargs | tr ' ' ','; }

# The mirrors that this machine's apt uses for the same suite, if it is of that suite: a machine behind a mirror of its
# own may reach no other. Empty: mmdebstrap's default.
host_mirrors() {
  apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null | sort -u |
    awk -v suite="$DEBIAN_SUITE" '$3 == "main" && ($2 == suite || $2 == suite "-updates" || $2 == suite "-security") {
      print "deb " $1 " " $2 " main" }'
}

build_with_mmdebstrap() {
  local started=$SECONDS mirrors=() layer=$WORK/archive/layer.tar
  command -v mmdebstrap >/dev/null || die "mmdebstrap: not installed, and no engine has or can pull $BASE; run apt-get install mmdebstrap uidmap"
  [ "$(id -u)" -eq 0 ] || grep -q "^$(id -un):" /etc/subuid 2>/dev/null ||
    die "mmdebstrap: user $(id -un) has no line in /etc/subuid; run: sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $(id -un)"
  mapfile -t mirrors < <(host_mirrors)
  grep -q " $DEBIAN_SUITE main" <<<"${mirrors[*]}" || mirrors=()
  say "making Debian $DEBIAN_SUITE with $(package_names | tr ',' '\n' | wc -l) packages (mmdebstrap, about half a minute)"
  tar -C "$WORK" --owner=0 --group=0 --numeric-owner --transform 's,^local,usr/local,S' -cf "$WORK/local.tar" local
  rm -rf "$WORK/local"
  mkdir -p "$WORK/archive"
  # Device nodes can't be unpacked by a rootless engine, and every engine makes its own.
  mmdebstrap --quiet --variant=minbase --mode=auto --skip=output/dev --include="$(package_names)" \
    --aptopt='Acquire::Languages "none"' --aptopt='APT::Install-Recommends "false"' --dpkgopt=force-unsafe-io \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --customize-hook="tar-in $WORK/local.tar /" --customize-hook="upload $HERE/setup.sh /tmp/setup.sh" \
    --customize-hook='chroot "$1" sh /tmp/setup.sh' \
    "$DEBIAN_SUITE" - "${mirrors[@]}" >"$layer" 2>"$WORK/mmdebstrap.log" </dev/null || {
    tail -n 20 "$WORK/mmdebstrap.log" >&2
    die "mmdebstrap: failed, see the lines above; without it an engine that can pull $BASE will do: --engine SOCKET"
  }
  say "file system made in $((SECONDS - started)) s, $(du -m "$layer" | cut -f1) MB"
  write_archive "$layer"
}

# The format of `docker save` (image spec 1.2): manifest.json names the configuration, the tags and the layers.
write_archive() {
  local digest config
  digest=$(sha256sum "$1" | cut -d' ' -f1)
  jq -cn --arg diff "sha256:$digest" --arg arch "$OCI_ARCH" --arg key "$LABEL" --arg inputs "$INPUTS" --argjson env "$ENVIRONMENT" \
    --arg created "$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%Y-%m-%dT%H:%M:%SZ)" \
    '{architecture: $arch, os: "linux", created: $created,
      config: {Env: $env, Cmd: ["/bin/bash"], WorkingDir: "/workspace", Labels: {($key): $inputs}},
      rootfs: {type: "layers", diff_ids: [$diff]}, history: [{created: $created, created_by: "sandbox-image/build.sh"}]}' >"$WORK/config"
  config=$(sha256sum "$WORK/config" | cut -d' ' -f1).json
  mv "$WORK/config" "$WORK/archive/$config"
  jq -cn --arg config "$config" --arg tag "$IMAGE" '[{Config: $config, RepoTags: [$tag], Layers: ["layer.tar"]}]' >"$WORK/archive/manifest.json"
  tar -C "$WORK/archive" --owner=0 --group=0 -cf "$WORK/image.tar" manifest.json "$config" layer.tar
}

engine_offers_base() {
  [ -n "$ENGINE" ] || return 1
  if engine_has "$BASE"; then say "using $BASE, which the engine has"; return 0; fi
  say "pulling $BASE"
  curl -sS --max-time 120 --unix-socket "$ENGINE" -X POST "http://engine/images/create?fromImage=debian&tag=$DEBIAN_SUITE-slim" \
    >"$WORK/pull.log" 2>&1 || true
  if engine_has "$BASE"; then return 0; fi
  say "can't pull it ($(tail -n 1 "$WORK/pull.log" | jq -r '.message // .error // "no answer"' 2>/dev/null | cut -c1-120))"
  return 1
}

build_with_engine() {
  local started=$SECONDS query
  say "building on $BASE"
  mkdir -p "$WORK/context"
  cp "$HERE/Dockerfile" "$HERE/packages.txt" "$HERE/setup.sh" "$WORK/context/"
  cp -a "$WORK/local" "$WORK/context/local"
  tar -C "$WORK/context" --owner=0 --group=0 --numeric-owner -cf "$WORK/context.tar" .
  query="t=$(jq -rn --arg v "$IMAGE" '$v|@uri')&rm=1&forcerm=1"
  query+="&buildargs=$(jq -rn --arg v "$BASE" '{BASE: $v} | tojson | @uri')&labels=$(jq -rn --arg k "$LABEL" --arg v "$INPUTS" '{($k): $v} | tojson | @uri')"
  curl -sS --unix-socket "$ENGINE" -X POST -H 'Content-Type: application/x-tar' -H 'Expect:' -T "$WORK/context.tar" \
    "http://engine/build?$query" >"$WORK/build.log" 2>&1 || true
  if ! engine_get "$ENGINE" "/images/$IMAGE/json" | grep -q "\"$LABEL\": *\"$INPUTS\""; then
    tail -n 30 "$WORK/build.log" | jq -rj '.stream // .error // empty' 2>/dev/null | tail -n 20 >&2
    say "the build on $BASE failed, see the lines above"
    return 1
  fi
  curl -sSf --unix-socket "$ENGINE" "http://engine/images/$IMAGE/get" -o "$WORK/image.tar" || return 1
  say "built in $((SECONDS - started)) s"
}

# A newer file under an old name would never be looked at: the operator loads it only when the name is missing.
refresh_engine() {
  local have
  [ -n "$ENGINE" ] && engine_has "$IMAGE" || return 0
  have=$(engine_get "$ENGINE" "/images/$IMAGE/json" | jq -r --arg l "$LABEL" '.Config.Labels[$l] // ""')
  [ "$have" != "$INPUTS" ] || return 0
  say "replacing the older $IMAGE in the engine"
  curl -sSf --unix-socket "$ENGINE" -X POST -H 'Content-Type: application/x-tar' -H 'Expect:' -T "$OUTPUT" \
    "http://engine/images/load?quiet=1" >/dev/null || die "$IMAGE: the engine did not load $OUTPUT"
}

mkdir -p "$(dirname "$OUTPUT")"
OUTPUT=$(cd "$(dirname "$OUTPUT")" && pwd -P)/$(basename "$OUTPUT")
exec 9>"$(dirname "$OUTPUT")/.lock"   # two callers at once build once
flock 9
if up_to_date; then refresh_engine; exit 0; fi

started=$SECONDS
install_image_deps
WORK=$(mktemp -d "$(dirname "$OUTPUT")/work.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
chmod 0755 "$WORK"
fetch_runtimes
{ engine_offers_base && build_with_engine; } || build_with_mmdebstrap
rm -f "$OUTPUT.inputs"
mv "$WORK/image.tar" "$OUTPUT"
echo "$INPUTS" >"$OUTPUT.inputs"
say "wrote $OUTPUT: $(du -m "$OUTPUT" | cut -f1) MB in $((SECONDS - started)) s"
refresh_engine
