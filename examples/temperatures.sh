#!/bin/sh
# A language model as GPT (Radford et al., 2018) on text of your own: perplexity of text that it has
# not seen, and what it writes at several temperatures.
#   sh examples/temperatures.sh TRAIN VALID TEST DIR [SETTING=VALUE]... > TABLE
# It continues the first WORDS words of the first PROMPTS lines of TEST. DIR/settings records the
# settings and the SHA-256 of the texts. Run it again to resume.
# EVERY=4   trains on every 4th line of TRAIN    VOCAB=8000    STEPS=2000
# BASE="--preset modern --dropout 0"    WORDS=4  PROMPTS=300
# TEMPERATURES="0 0.3 0.7 1 1.5"; 0 is greedy search
# Columns: log P per word under the model itself, whatever the temperature; per cent of word triples
# that occur before in the same line; per cent of lines that are lines of the training text; words
# per line after the prompt.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
train=${1:?"usage: temperatures.sh TRAIN VALID TEST DIR [SETTING=VALUE]... > TABLE"}
valid=${2:?"VALID is missing"} test=${3:?"TEST is missing"} dir=${4:?"DIR is missing"}
shift 4
EVERY=4 STEPS=2000 BASE='--preset modern --dropout 0' VOCAB=8000 WORDS=4 PROMPTS=300
TEMPERATURES='0 0.3 0.7 1 1.5'
recorded='EVERY STEPS BASE VOCAB'
settings "$recorded WORDS PROMPTS TEMPERATURES" "$@"
same_settings "$dir" "$recorded" "$train" "$valid" "$test"

awk -v every="$EVERY" 'NR % every == 0' "$train" > "$dir/train"
[ -e "$dir/bpe.model" ] || tx-bpe train --vocab-size "$VOCAB" -o "$dir/bpe.model" "$dir/train"
# shellcheck disable=SC2086  # BASE is split into words
quiet run train "$dir/run" "$STEPS" --kind decoder $BASE --vocab "$dir/bpe.model" --keep 1 \
  --src "$dir/train" --valid-src "$valid"

# Prompts, and how TEST continues them.
awk -v words="$WORDS" -v prompts="$PROMPTS" -v dir="$dir" 'NF > words && n++ < prompts {
  line = $1
  for (i = 2; i <= words; ++i) line = line " " $i
  rest = $(words + 1)
  for (i = words + 2; i <= NF; ++i) rest = rest " " $i
  print line > (dir "/prompts")
  print rest > (dir "/rest")
}' "$test"

# row NAME OPTION...: continues the prompts, or scores the continuations of --tgt; a row about them.
row() {
  name=$1
  shift
  tx-decode -q -m "$dir/run" --scores "$@" < "$dir/prompts" > "$dir/scores"
  paste "$dir/prompts" "$dir/scores" > "$dir/$name"
  awk -F '\t' -v name="$name" '
    NR == FNR { seen[$0]; next }
    {
      copies += ($1 $4) in seen
      log_p += $3
      written += split($4, word, " ")
      n = split($1 $4, word, " ")
      split("", before)
      for (i = 3; i <= n; ++i) {
        triple = word[i - 2] " " word[i - 1] " " word[i]
        ++triples; repeated += triple in before
        before[triple]
      }
    }
    END {
      printf "| %s | %.2f | %.1f | %.1f | %.1f |\n", name, log_p / written,
        100 * repeated / triples, 100 * copies / FNR, written / FNR
    }' "$dir/train" "$dir/$name"
}

perplexity=$(tx-decode -q -m "$dir/run" --perplexity "$test" 2>&1 > "$dir/scores")
echo "TEST: ${perplexity#*: }"
echo
echo '| temperature | log P per word | repeated triples, % | copied lines, % | words |'
echo '|---|---|---|---|---|'
row test --tgt "$dir/rest"
for temperature in $TEMPERATURES; do
  case $temperature in 0) set -- --beam 1 ;; *) set -- --sample --temperature "$temperature" ;; esac
  row "$temperature" "$@"
done
echo
for name in test $TEMPERATURES; do
  echo "$name: $(head -n 1 "$dir/$name" | awk -F '\t' '{ print $1 $4 }')"
done
echo
hash_of_settings "$dir" "WORDS=$WORDS" "PROMPTS=$PROMPTS" "TEMPERATURES=$TEMPERATURES"
