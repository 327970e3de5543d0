#!/bin/sh
# Dual conditional cross-entropy filtering (Junczys-Dowmunt, 2018): finds pairs of a parallel text
# that are not translations of each other. Wrong pairs are planted, two models in opposite
# directions are trained on the noisy text and score its pairs, the worst are dropped, and models
# trained on the noisy and on the remaining text are compared.
#   sh examples/noisy_data.sh DATA DIR [SETTING=VALUE]... > TABLE
# DATA and the record of settings, DIR/settings, are as for paper/runs.sh. Run it again to resume.
# Settings, in addition to those of compare() in train.sh:
# NOISE=30   percent of the pairs that get the target of another one; 0: filters DATA as it is
# DROP=30    percent of the pairs that are dropped
# STEPS=1000  BASE="--preset modern"  of every model
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
data=${1:?"usage: noisy_data.sh DATA DIR [SETTING=VALUE]... > TABLE"}
dir=${2:?"DIR is missing"}
shift 2
NOISE=30 DROP=30 STEPS=1000 BASE='--preset modern'
compare 'NOISE DROP' "$@"

# The pairs to spoil are drawn; each gets the target of the one drawn before it, so that the targets
# are the same sentences as before. planted: 1 for a spoilt pair.
awk -v percent="$NOISE" 'BEGIN { x = 42 }
  { x = x * 16807 % 2147483647; print (x % 1000 < 10 * percent) + 0 }' "$src" > "$dir/planted"
awk -v planted="$dir/planted" '{ line[NR] = $0; getline chosen < planted }
  chosen + 0 { if (last) line[last] = $0; else first = $0; last = NR }
  END { if (last) line[last] = first; for (i = 1; i <= NR; ++i) print line[i] }' "$tgt" > "$dir/noisy.$TO"
cp "$src" "$dir/noisy.$FROM"
[ -e "$dir/bpe.model" ] ||
  tx-bpe train --vocab-size "$VOCAB" -o "$dir/bpe.model" "$dir/noisy.$FROM" "$dir/noisy.$TO"

learn noisy noisy "$FROM" "$TO"
learn reverse noisy "$TO" "$FROM"

# Cross-entropy per word of each side given the other.
tx-decode -q -m "$dir/noisy" --tgt "$dir/noisy.$TO" --scores "$dir/noisy.$FROM" > "$dir/to"
tx-decode -q -m "$dir/reverse" --tgt "$dir/noisy.$FROM" --scores "$dir/noisy.$TO" > "$dir/from"
for side in "$FROM" "$TO"; do awk '{ print NF + 1 }' "$dir/noisy.$side" > "$dir/words.$side"; done
for side in to from; do cut -f 2 "$dir/$side" > "$dir/$side.score"; done
paste "$dir/to.score" "$dir/words.$TO" "$dir/from.score" "$dir/words.$FROM" | awk '{
  a = -$1 / $2
  b = -$3 / $4
  difference = a > b ? a - b : b - a
  printf "%d\t%.4f\n", NR, difference + (a + b) / 2 }' | sort -s -k 2,2gr > "$dir/ranked"
count=$(($(wc -l < "$dir/ranked") * DROP / 100))
head -n "$count" "$dir/ranked" | cut -f 1 | sort -n > "$dir/dropped"
for side in "$FROM" "$TO"; do
  awk 'FILENAME == ARGV[1] { dropped[$1]; next } !(FNR in dropped)' "$dir/dropped" "$dir/noisy.$side" \
    > "$dir/kept.$side"
done
learn filtered kept "$FROM" "$TO"

awk 'FILENAME == ARGV[1] { dropped[$1]; n++; next } { all += $1; if (FNR in dropped) found += $1 }
  END { printf "%d of %d pairs are dropped, %d of %d planted ones among them: %.1f %% are found, ", \
      n, FNR, found, all, all ? 100 * found / all : 0
    printf "%.1f %% of the dropped pairs are planted\n\n", n ? 100 * found / n : 0 }' \
  "$dir/dropped" "$dir/planted"
noisy=$(score noisy)
filtered=$(score filtered)
echo '| trained on | pairs | score |'
echo '|---|---|---|'
echo "| noisy | $(wc -l < "$dir/noisy.$TO") | $noisy |"
echo "| filtered | $(wc -l < "$dir/kept.$TO") | $filtered |"
echo
hash_of_settings "$dir"
