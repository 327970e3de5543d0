#!/bin/sh
# What the cache of keys and values saves: processor seconds of greedy search, which computes a row
# for each piece, and of the same pieces without a cache, where each takes a pass over all before.
#   sh examples/paper/cached.sh MODEL TEXT [FOLDER]
# Without a cache is done by scoring: the translations are known by then, and every beginning of
# each goes through the decoder whole, logits included. The encoder goes over the source as often;
# what it costs is told and left out: that of scoring first pieces alone. On processors; FOLDER is
# build/cached.
set -eu
if [ $# -lt 2 ]; then
  echo 'usage: cached.sh MODEL TEXT [FOLDER]' >&2
  exit 2
fi
model=$1 text=$2 folder=${3:-build/cached}
mkdir -p "$folder"

# seconds COMMAND...: of the processor, in what the shell has started.
seconds() {
  (
    "$@"
    times
  ) | tail -n 1 | awk '{ for (i = 1; i <= 2; ++i) { split($i, t, "m"); s += 60 * t[1] + t[2] }
    print s }'
}
greedy() { tx-decode -q -m "$model" --beam 1 --pieces < "$folder/source" > "$folder/out"; }
score() { tx-decode -q -m "$model" --pieces --tgt "$1" < "$2" > "$folder/scores"; }
start() { head -n 1 "$folder/source" | tx-decode -q -m "$model" --beam 1 --pieces > "$folder/one"; }

tx-bpe encode -m "$model" < "$text" > "$folder/source"
started=$(seconds start)
cached=$(seconds greedy)
# Beginnings of one piece and more: what the decoder reads before it predicts the next.
paste "$folder/source" "$folder/out" | awk -F '\t' -v source="$folder/sources" \
  -v target="$folder/beginnings" '{
    n = split($2, piece, " ")
    beginning = ""
    for (i = 1; i <= n; ++i) {
      beginning = beginning (i > 1 ? " " : "") piece[i]
      print $1 > source
      print beginning > target
    } }'
uncached=$(seconds score "$folder/beginnings" "$folder/sources")
sed 's/ .*//' "$folder/beginnings" > "$folder/firsts"
encoder=$(seconds score "$folder/firsts" "$folder/sources")
pieces=$(wc -w < "$folder/out")
lines=$(awk 'END { print NR }' "$folder/out")
awk -v pieces="$pieces" -v lines="$lines" -v started="$started" -v cached="$cached" \
  -v uncached="$uncached" -v encoder="$encoder" 'BEGIN {
  printf "%d sentences, %d pieces, processor seconds but for %.2f of starting\n\n", lines, pieces,
    started
  print "| cached | not cached | of these, sources and first pieces | times slower without these |"
  print "|---|---|---|---|"
  printf "| %.2f | %.2f | %.2f | %.1f |\n", cached - started, uncached - started, encoder - started,
    (uncached - encoder) / (cached - started) }'
