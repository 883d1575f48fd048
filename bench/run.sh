#!/usr/bin/env bash
# bench/run.sh [NAME...]: prints one JSON line a figure: {"name","unit","value","floor","ratio","n"}. Floors are measured in the same run.
# Names: denied denied64 launcher cell exec exec8 ready ready20 restart fair memory talk streams turns. Without names: all.
set -euo pipefail
cd "$(dirname "$0")/.."
BUILD=${BEIGE_BUILD_DIR:-build/release}
[ -f "$BUILD/build.ninja" ] || cmake --preset release -DBEIGE_UNITY=ON >/dev/null
ninja -C "$BUILD" beige_all bench_all >/dev/null
if [ -z "${BEIGE_TEST_ENGINE_SOCKET:-}" ]; then
  BEIGE_TEST_ENGINE_SOCKET=$(scripts/engine.sh up | tail -1)
  export BEIGE_TEST_ENGINE_SOCKET
fi
scripts/test-images.sh "$BEIGE_TEST_ENGINE_SOCKET" >&2
exec python3 bench/run.py "$(cd "$BUILD" && pwd)" "$@"
