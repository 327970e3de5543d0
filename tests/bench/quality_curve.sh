#!/bin/sh
# BLEU against training time: for every EVERYth (5) checkpoint of a run, averages the last MEAN
# (5) checkpoints up to it, decodes (beam 5) and scores (lowercased, tokenised as given). The time
# is that in log.jsonl. Train with a large --keep.
#
#   sh tests/bench/quality_curve.sh RUN SRC REF [EVERY [MEAN [TX-DECODE-OPTION...]]]
# The tools must be in PATH.
set -eu
run=${1:?"usage: quality_curve.sh RUN SRC REF [EVERY [MEAN [OPTION...]]]"} src=${2:?"SRC is missing"}
ref=${3:?"REF is missing"} every=${4:-5} mean=${5:-5}
shift "$(($# < 5 ? $# : 5))"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n 's/.*"checkpoint":"model-\([0-9]*\)\..*"seconds":\([0-9.]*\).*/\1 \2/p' "$run/log.jsonl" |
  while read -r step seconds; do
    [ ! -f "$run/model-$step.safetensors" ] || echo "$step $seconds"
  done > "$work/kept"
awk -v run="$run" -v every="$every" -v mean="$mean" '
  {files[NR] = run "/model-" $1 ".safetensors"; steps[NR] = $1; seconds[NR] = $2}
  END {
    for (i = NR % every; i <= NR; i += every) {
      if (i < mean) continue
      printf "%d %.1f", steps[i], seconds[i] / 60
      for (j = i - mean + 1; j <= i; ++j) printf " %s", files[j]
      print ""
    }
  }' "$work/kept" |
  while read -r step minutes files; do
    # shellcheck disable=SC2086
    tx-avg -o "$work/mean" $files 2> "$work/log"
    tx-decode -m "$work/mean" --beam 5 "$@" < "$src" > "$work/out" 2> "$work/log"
    score=$(tx-bleu --tokenize none --lowercase --score-only "$ref" < "$work/out" 2> "$work/log")
    echo "step $step, $minutes minutes: BLEU $score"
  done
