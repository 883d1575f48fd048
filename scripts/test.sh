#!/usr/bin/env bash
# Installs what is needed, builds everything and runs all tests; the last line is `N passed, N failed`.
#   --only REGEX      only the tests whose names match
#   --no-sanitizers   only the release build
#   --long            also the tests labelled long, and a build with clang-tidy
# Exit status 1 when a step or a test failed, or when no test ran. Logs: build/test-logs. Environment:
# BEIGE_TEST_ENGINE_SOCKET names an engine to use; else one that answers is used, else one is started and removed again.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
exec </dev/null 3>&1
cd "$ROOT"

usage() { sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; echo "usage: scripts/test.sh [--only REGEX] [--no-sanitizers] [--long]"; }
ONLY='' SANITIZERS=1 LONG=''
while [ $# -gt 0 ]; do
  case $1 in
    --only) [ $# -ge 2 ] || die "--only: wants a regular expression"; ONLY=$2; shift ;;
    --only=*) ONLY=${1#*=} ;;
    --no-sanitizers) SANITIZERS='' ;;
    --long) LONG=1 ;;
    -h|--help) usage; exit 0 ;;
    *) usage >&2; echo "beige: test.sh: unknown argument $1" >&2; exit 2 ;;
  esac
  shift
done

JOBS=$(nproc)
LOGS=$ROOT/build/test-logs
ENGINE_STATE='' PASSED=0 FAILED=0 SKIPPED=0 SUMMARY=()
mkdir -p "$LOGS"
rm -f "$LOGS"/*.log "$LOGS"/*.xml

section() { printf '\n== %s (at %d:%02d)\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)); }

# step NAME COMMAND...: its output goes to a log, of which a failure shows the end. A failed step counts as one failure.
step() {
  local name=$1 started=$SECONDS log
  shift
  section "$name"
  log=$LOGS/${name//[^a-z0-9-]/_}.log
  if "$@" >"$log" 2>&1; then
    SUMMARY+=("$(printf '%-28s ok, %d s' "$name" $((SECONDS - started)))")
    return 0
  fi
  tail -n 60 "$log"
  printf 'beige: %s: failed; the end of %s stands above\n' "$name" "$log"
  SUMMARY+=("$(printf '%-28s FAILED, %d s, see %s' "$name" $((SECONDS - started)) "$log")")
  FAILED=$((FAILED + 1))
  return 1
}

# run_tests PRESET CTEST_OPTION...: counts come from ctest's JUnit file, never from the text it prints.
run_tests() {
  local preset=$1 started=$SECONDS xml=$LOGS/$1.xml total failed skipped
  shift
  section "tests: $preset"
  "${WRAP[@]}" ctest --test-dir "build/$preset" -j "$JOBS" --output-on-failure --no-tests=ignore --output-junit "$xml" \
    ${ONLY:+-R "$ONLY"} "$@" 2>&1 | tee "$LOGS/ctest-$preset.log" || true
  if [ ! -s "$xml" ]; then
    printf 'beige: tests: %s: ctest wrote no result file\n' "$preset"
    SUMMARY+=("$(printf '%-28s FAILED: ctest wrote no result file' "tests: $preset")")
    FAILED=$((FAILED + 1))
    return 0
  fi
  # <testcase status="run|fail|notrun|disabled">: notrun is a test that skipped itself or whose program is missing.
  read -r total failed skipped < <(python3 - "$xml" <<'PYTHON'
import sys, xml.etree.ElementTree as tree
cases = list(tree.parse(sys.argv[1]).getroot().iter("testcase"))
failed, skipped = [], []
for case in cases:
    skip = case.find("skipped")
    if case.get("status") == "fail" or case.find("failure") is not None:
        failed.append(case.get("name"))
    elif case.get("status") == "run" and skip is None:
        pass
    elif skip is not None and skip.get("message", "").startswith(("SKIP_", "Disabled")) or case.get("status") == "disabled":
        skipped.append(case.get("name"))
    else:
        failed.append(case.get("name") + " (did not run)")
for name in failed: print("failed:", name, file=sys.stderr)
for name in skipped: print("skipped:", name, file=sys.stderr)
print(len(cases), len(failed), len(skipped))
PYTHON
  )
  # A run narrowed by --only may miss a preset; a whole one that finds no test there is broken.
  if [ "$total" -eq 0 ] && [ -z "$ONLY" ]; then
    printf 'beige: tests: %s: no test was found\n' "$preset"
    failed=1 total=1
  fi
  PASSED=$((PASSED + total - failed - skipped)) FAILED=$((FAILED + failed)) SKIPPED=$((SKIPPED + skipped))
  SUMMARY+=("$(printf '%-28s %d passed, %d failed, %d skipped, %d s' "tests: $preset" $((total - failed - skipped)) "$failed" "$skipped" $((SECONDS - started)))")
}

finish() {
  local status=$?
  trap - EXIT
  exec >&3 2>&3   # whatever a step had its output redirected to
  if [ -n "$ENGINE_STATE" ]; then
    bash scripts/engine.sh down --state "$ENGINE_STATE" --own --purge >>"$LOGS/engine.log" 2>&1 || true
    rm -rf "$ENGINE_STATE" 2>/dev/null || true
  fi
  section "summary"
  printf '%s\n' "${SUMMARY[@]}"
  [ "$status" -eq 0 ] || [ "$FAILED" -gt 0 ] || FAILED=1
  [ "$((PASSED + FAILED))" -gt 0 ] || echo "beige: test.sh: no test ran${ONLY:+: no name matches $ONLY}"
  [ "$SKIPPED" -eq 0 ] || echo "$SKIPPED skipped (named above)"
  printf 'total time %d:%02d\n' $((SECONDS / 60)) $((SECONDS % 60))
  printf '%d passed, %d failed\n' "$PASSED" "$FAILED"
  [ "$FAILED" -eq 0 ] && [ "$PASSED" -gt 0 ] && exit 0
  exit 1
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

install_all() { install_sections build engine image ${SANITIZERS:+fuzz} ${LONG:+tidy}; }
configure_and_build() { "${WRAP[@]}" cmake --preset "$1" -DBEIGE_UNITY=ON && "${WRAP[@]}" cmake --build --preset "$1" -j "$JOBS" "${@:2}"; }

# An engine of its own lies in a short folder on disk: socket paths end at 107 bytes, and images don't belong into memory.
start_engine() {
  if [ -z "${BEIGE_TEST_ENGINE_SOCKET:-}" ]; then
    ENGINE_STATE=$(mktemp -d /var/tmp/beige-test.XXXXXX)
    BEIGE_TEST_ENGINE_SOCKET=$(bash scripts/engine.sh up --state "$ENGINE_STATE") || return 1
  fi
  bash scripts/engine.sh status --state "${ENGINE_STATE:-/nonexistent}" || return 1
  bash scripts/test-images.sh "$BEIGE_TEST_ENGINE_SOCKET"
}

# ThreadSanitizer and this kernel's address randomisation don't always agree; without it they do.
without_aslr() { if setarch "$(uname -m)" -R true 2>/dev/null; then WRAP=(setarch "$(uname -m)" -R); fi; }

WRAP=()
export CTEST_PARALLEL_LEVEL=$JOBS
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export LSAN_OPTIONS=suppressions=$ROOT/tests/lsan.supp:print_suppressions=0
TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
[ ! -e tests/tsan.supp ] || TSAN_OPTIONS+=:suppressions=$ROOT/tests/tsan.supp
export TSAN_OPTIONS
[ -z "$LONG" ] || export BEIGE_TEST_LONG=1
LONG_FILTER='^long$'
[ -z "$LONG" ] || LONG_FILTER='^$'

step "install packages" install_all || exit 1
step "build release" configure_and_build release || exit 1
step "engine" start_engine || exit 1
export BEIGE_TEST_ENGINE_SOCKET
step "sandbox image" bash sandbox-image/build.sh --engine "$BEIGE_TEST_ENGINE_SOCKET" || exit 1
BEIGE_TEST_IMAGE_TAR=$ROOT/build/image/beige-sandbox-$(head -n 1 VERSION).tar
export BEIGE_TEST_IMAGE_TAR
run_tests release -LE "$LONG_FILTER"

if [ -n "$SANITIZERS" ]; then
  if step "build asan-ubsan" configure_and_build asan-ubsan; then run_tests asan-ubsan -LE "engine|$LONG_FILTER"; fi
  without_aslr
  if step "build tsan" configure_and_build tsan --target tsan_tests; then run_tests tsan -L tsan -LE "$LONG_FILTER"; fi
  WRAP=()
  if step "build fuzz" configure_and_build fuzz --target fuzz_targets; then run_tests fuzz -L fuzz; fi
fi
if [ -n "$LONG" ]; then step "build tidy" configure_and_build tidy || true; fi
