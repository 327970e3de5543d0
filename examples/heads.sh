#!/bin/sh
# BLEU of a model with 0, 10, ... 90 % of its heads pruned ("Are Sixteen Heads Really Better than
# One?", Michel, Levy and Neubig, 2019), as a table:
#   sh examples/heads.sh MODEL DEV_SRC DEV_REF TEST_SRC TEST_REF [DIR]
# Heads are pruned in the order of their importance on DEV, by two measures: |d loss / d gate|,
# and the loss without the head. The last columns are the mean, minimum and maximum of random
# orders. Heads of encoder, decoder and cross-attention are pruned together. The lists are kept in
# DIR (build/heads).
# SHARES='10 50' sets the percentages, SEEDS='1 2' the random orders; DECODE and BLEU are options of
# tx-decode and tx-bleu.
set -eu
if [ $# -lt 5 ] || [ $# -gt 6 ]; then
  echo "usage: sh examples/heads.sh MODEL DEV_SRC DEV_REF TEST_SRC TEST_REF [DIR]" >&2
  exit 2
fi
model=$1 dev_src=$2 dev_ref=$3 test_src=$4 test_ref=$5 dir=${6:-build/heads}
for tool in tx-attn-dump tx-decode tx-bleu; do
  command -v $tool > /dev/null && continue
  echo "heads: no $tool in PATH; after make: PATH=\$PWD/build/bin:\$PATH" >&2
  exit 1
done
shares=${SHARES-10 20 30 40 50 60 70 80 90} seeds=${SEEDS-1 2 3}
mkdir -p "$dir"

tx-attn-dump -m "$model" --stats importance --tgt "$dev_ref" "$dev_src" > "$dir/importance.tsv"
total=$(($(wc -l < "$dir/importance.tsv") - 1))

# ranked COLUMN: the heads in the syntax of --mask-heads, in ascending order of that column.
ranked() {
  awk -F '\t' -v wanted="$1" '
    NR == 1 { for (i = 1; i <= NF; ++i) if ($i == wanted) column = i; next }
    { print $column "\t" $1 "." $2 "." $3 }' "$dir/importance.tsv" | sort -s -g -k 1,1 | cut -f 2
}
# drawn SEED: the heads in a random order that is the same on every machine.
drawn() {
  awk -F '\t' -v x="$1" 'BEGIN { for (i = 0; i < 9; ++i) x = x * 16807 % 2147483647 }
    NR > 1 { x = x * 16807 % 2147483647; print x "\t" $1 "." $2 "." $3 }' \
    "$dir/importance.tsv" | sort -n | cut -f 2
}
# score [LIST N]: BLEU of the test text with the first N heads of the list pruned.
score() {
  without=
  [ $# -eq 0 ] || without="--mask-heads $(head -n "$2" "$1" | paste -s -d , -)"
  # $without, $DECODE and $BLEU are split into words.
  # shellcheck disable=SC2086
  tx-decode -q -m "$model" ${DECODE-} $without "$test_src" > "$dir/out"
  # shellcheck disable=SC2086
  tx-bleu ${BLEU-} --score-only "$test_ref" < "$dir/out"
}

ranked gradient > "$dir/by-gradient"
ranked loss > "$dir/by-loss"
for seed in $seeds; do drawn "$seed" > "$dir/random-$seed"; done

printf 'percent\theads\tby gradient\tby loss\trandom\tlowest\thighest\n'
whole=$(score)
printf '0\t0\t%s\t%s\t%s\t%s\t%s\n' "$whole" "$whole" "$whole" "$whole" "$whole"
for share in $shares; do
  n=$(((total * share + 50) / 100))
  [ $n -gt 0 ] || continue
  by_gradient=$(score "$dir/by-gradient" $n)
  by_loss=$(score "$dir/by-loss" $n)
  for seed in $seeds; do score "$dir/random-$seed" $n; done > "$dir/scores"
  printf '%s\t%s\t%s\t%s\t' "$share" $n "$by_gradient" "$by_loss"
  sort -n "$dir/scores" | awk '{ x[NR] = $1; sum += $1 }
    END { printf "%.1f\t%s\t%s\n", sum / NR, x[1], x[NR] }'
done
