#!/usr/bin/env bash
# run.sh PROGRAM FOLDER NAME SCRATCH: one libFuzzer target for 10 s, 60 s when BEIGE_TEST_LONG is set. What lies in FOLDER/corpus/NAME,
# earlier failures among it, is replayed first. New inputs stay in SCRATCH; one that fails is named at the end and belongs into the corpus.
set -euo pipefail
program=$1 folder=$2 name=$3 scratch=$4
# The short run takes the same way each time, so that a change is judged by what it changed; the long one looks for what is new.
seconds=10 seed=1
[ -z "${BEIGE_TEST_LONG:-}" ] || seconds=60 seed=0
mkdir -p "$scratch/$name" "$scratch/failed"
options=(-seed="$seed" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=8192 -print_final_stats=1 -artifact_prefix="$scratch/failed/$name-")
[ ! -e "$folder/$name.dict" ] || options+=(-dict="$folder/$name.dict")
exec "$program" "${options[@]}" "$scratch/$name" "$folder/corpus/$name" </dev/null
