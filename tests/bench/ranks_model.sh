#!/bin/sh
# Time of a training step over ranks: measured on this machine, and by a model (ranks_model.awk),
# which also predicts other machines. Needs an idle machine.
#
#   sh tests/bench/ranks_model.sh SRC TGT [SETTING=VALUE]...
# BIN=build/bin, BENCH=build/tests/ranks_bench   the programs
# OPTIONS='--preset tiny --d-model 256 --d-ff 1024'   of tx-train
# STEPS=30    of each run; the first third is excluded     RANKS=2    one thread each
# The figures of other machines are assumptions, see below.
set -eu
src=${1:?"usage: ranks_model.sh SRC TGT [SETTING=VALUE]..."}
tgt=${2:?"TGT is missing"}
shift 2
BIN=build/bin BENCH=build/tests/ranks_bench OPTIONS='--preset tiny --d-model 256 --d-ff 1024' STEPS=30
RANKS=2
for setting; do
  case $setting in
    BIN=* | BENCH=* | OPTIONS=* | STEPS=* | RANKS=*) eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "ranks_model.sh: unknown setting '$setting'" >&2; exit 2 ;;
  esac
done
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
"$BIN/tx-bpe" train --vocab-size 8000 -o "$work/bpe.model" "$src" "$tgt" 2> /dev/null

step() { # RANKS BATCHES: seconds
  rm -rf "$work/run"
  # shellcheck disable=SC2086
  mpirun -q --oversubscribe --bind-to none -n "$1" "$BIN/tx-train" $OPTIONS --device cpu --threads 1 \
    --accumulate "$2" --src "$src" --tgt "$tgt" --vocab "$work/bpe.model" --steps "$STEPS" \
    --save-every 0 --log-every 1 -o "$work/run" 2> "$work/log"
  awk -F '"seconds":' -v from="$((STEPS / 3))" '/"loss"/ {
    n++
    if (n == from) begin = $2 + 0
    last = $2 + 0
  } END { print (last - begin) / (n - from) }' "$work/run/log.jsonl"
}
for ranks in 2 "$RANKS"; do
  mpirun -q --oversubscribe --bind-to none -n "$ranks" "$BENCH" | sed 's/^/network /'
done > "$work/lines"
one=$(step 1 "$RANKS") two=$(step 1 $((2 * RANKS)))
awk -v a="$one" -v b="$two" -v r="$RANKS" 'BEGIN {
  batch = (b - a) / r
  print "batch", batch
  print "update", a - r * batch
}' >> "$work/lines"
sed -n 's/.*; \([0-9]*\) parameters.*/elements \1/p' "$work/log" | head -n 1 >> "$work/lines"
{
  echo "measured 1 $RANKS $one"
  echo "measured 1 $((2 * RANKS)) $two"
  echo "measured $RANKS $RANKS $(step "$RANKS" "$RANKS")"
  echo "measured $RANKS $((2 * RANKS)) $(step "$RANKS" $((2 * RANKS)))"
} >> "$work/lines"
# Assumptions for H200: a batch of 25,000 + 25,000 tokens takes 23 ms (base) or 66 ms (big), the
# goals, which have not been measured; Adam at 4 TB/s; 350 GB/s between the 8 GPUs of a machine,
# 40 GB/s beyond (400 Gbit/s per GPU); 20 us per call and 2 us per rank. A batch split in 8 takes
# 3 ms plus an eighth.
sed 's/^/machine /' >> "$work/lines" << 'EOF'
base, H200|65000000|1|1|0.023|0.0005|100000|8|350e9|40e9|20e-6|2e-6
base, 8 H200, the same batch in 8|65000000|8|8|0.0059|0.0005|100000|8|350e9|40e9|20e-6|2e-6
base, 8 H200|65000000|8|8|0.023|0.0005|12500|8|350e9|40e9|20e-6|2e-6
base, 64 x 8 H200|65000000|512|512|0.023|0.0005|196|8|350e9|40e9|20e-6|2e-6
big, H200|213000000|1|1|0.066|0.0016|300000|8|350e9|40e9|20e-6|2e-6
big, 8 H200, the same batch in 8|213000000|8|8|0.01125|0.0016|300000|8|350e9|40e9|20e-6|2e-6
big, 8 H200|213000000|8|8|0.066|0.0016|37500|8|350e9|40e9|20e-6|2e-6
big, 64 x 8 H200|213000000|512|512|0.066|0.0016|586|8|350e9|40e9|20e-6|2e-6
EOF
awk -f "$here/ranks_model.awk" "$work/lines"
