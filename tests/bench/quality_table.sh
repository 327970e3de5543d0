#!/bin/sh
# Effect of averaging and search: BLEU (lowercased, tokenised as given) of averages of the last N
# checkpoints of a run, for several N, beams and length penalties.
#
#   sh tests/bench/quality_table.sh RUN SRC REF [SETTING=VALUE]...     (the tools in PATH)
# MEANS='1 5 10 20'  BEAMS='1 2 5 10'     a row per average, a column per beam,
# ALPHA=0.6                               with this length penalty
# ALPHAS='0 0.6 1 1.4'                    for the last of MEANS, with beam 5
set -eu
run=${1:?"usage: quality_table.sh RUN SRC REF [SETTING=VALUE]..."} src=${2:?"SRC is missing"}
ref=${3:?"REF is missing"}
shift 3
MEANS='1 5 10 20' BEAMS='1 2 5 10' ALPHA=0.6 ALPHAS='0 0.6 1 1.4'
for setting; do
  case $setting in
    MEANS=* | BEAMS=* | ALPHA=* | ALPHAS=*) eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "quality_table.sh: unknown setting '$setting'" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d "${TMPDIR:-/tmp}/tx-quality.XXXXXX")
trap 'rm -rf "$work"' EXIT

# score MEAN OPTION...: prints BLEU.
score() {
  mean=$1
  shift
  tx-decode -m "$work/$mean" "$@" < "$src" > "$work/out" 2> "$work/log"
  tx-bleu --tokenize none --lowercase --score-only "$ref" < "$work/out" 2> "$work/log"
}

for mean in $MEANS; do
  tx-avg -q --last "$mean" -o "$work/$mean" "$run"
  row="mean of $mean:"
  for beam in $BEAMS; do row="$row beam $beam $(score "$mean" --beam "$beam" --alpha "$ALPHA");"; done
  echo "${row%;}"
done
row="mean of $mean, beam 5:"
for alpha in $ALPHAS; do row="$row alpha $alpha $(score "$mean" --beam 5 --alpha "$alpha");"; done
echo "${row%;}"
