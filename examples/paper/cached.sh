#!/bin/sh
# What the cache of keys and values saves: CPU seconds of greedy search, and of the same output
# without a cache, where each token takes a pass over all tokens before it.
#   sh examples/paper/cached.sh MODEL TEXT [DIR]
# Decoding without a cache is simulated by scoring: every prefix of each translation is scored
# with its source, logits included. The encoder then runs once per prefix too; its cost is
# measured by scoring only the first tokens, and is printed and subtracted. On the CPU; DIR is
# build/cached.
set -eu
if [ $# -lt 2 ]; then
  echo 'usage: cached.sh MODEL TEXT [DIR]' >&2
  exit 2
fi
model=$1 text=$2 dir=${3:-build/cached}
mkdir -p "$dir"

# seconds COMMAND...: CPU seconds of the command.
seconds() {
  (
    "$@"
    times > "$dir/times"
  )
  tail -n 1 "$dir/times" | awk '{ for (i = 1; i <= 2; ++i) { split($i, t, "m"); s += 60 * t[1] + t[2] }
    print s }'
}
greedy() { tx-decode -q -m "$model" --beam 1 --pieces < "$dir/source" > "$dir/out"; }
score() { tx-decode -q -m "$model" --pieces --tgt "$1" < "$2" > "$dir/scores"; }
start() { head -n 1 "$dir/source" | tx-decode -q -m "$model" --beam 1 --pieces > "$dir/one"; }

tx-bpe encode -m "$model" < "$text" > "$dir/source"
started=$(seconds start)
cached=$(seconds greedy)
# All prefixes of at least one token: what the decoder reads before it predicts the next token.
paste "$dir/source" "$dir/out" | awk -F '\t' -v source="$dir/sources" \
  -v target="$dir/prefixes" '{
    n = split($2, token, " ")
    prefix = ""
    for (i = 1; i <= n; ++i) {
      prefix = prefix (i > 1 ? " " : "") token[i]
      print $1 > source
      print prefix > target
    } }'
uncached=$(seconds score "$dir/prefixes" "$dir/sources")
sed 's/ .*//' "$dir/prefixes" > "$dir/firsts"
encoder=$(seconds score "$dir/firsts" "$dir/sources")
tokens=$(wc -w < "$dir/out")
lines=$(awk 'END { print NR }' "$dir/out")
awk -v tokens="$tokens" -v lines="$lines" -v started="$started" -v cached="$cached" \
  -v uncached="$uncached" -v encoder="$encoder" 'BEGIN {
  printf "%d sentences, %d tokens, CPU seconds without %.2f of start-up\n\n", lines, tokens, started
  print "| cached | not cached | of these, encoder and first tokens | times slower without these |"
  print "|---|---|---|---|"
  printf "| %.2f | %.2f | %.2f | %.1f |\n", cached - started, uncached - started, encoder - started,
    (uncached - encoder) / (cached - started) }'
