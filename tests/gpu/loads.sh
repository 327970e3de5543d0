# What bench.sh and first.sh have the tools do. `scale` divides sizes.

# Random words of a vocabulary as large as that of WMT, in sentences of 6 to 48 words, and
# train.sh PRESET TOKENS OPTION..., which trains on them.
synthetic() {
  awk -v pairs=$((24000 / scale)) -v words=$((37000 / scale)) 'BEGIN {
    state = 1000003
    for (i = 0; i < pairs; ++i) {
      source = target = ""
      for (n = 6 + below(43); n > 0; --n) {
        source = source " w" 4 + below(words - 4)
        target = target " w" 4 + below(words - 4)
      }
      print substr(source, 2) > "train.src"
      print substr(target, 2) > "train.tgt"
      if (i < 1000) print substr(source, 2) > "test.src"
    }
  }
  function below(count) {
    state = state * 16807 % 2147483647
    return int(state / 2147483647 * count)
  }'
cat > train.sh <<'SCRIPT'
preset=$1 tokens=$2
shift 2
exec tx-train --device cuda --precision bf16 --preset "$preset" --vocab words --src train.src \
  --tgt train.tgt --batch-tokens "$tokens" --log-every 5 --save-every 0 --cache cache -o "$preset" "$@"
SCRIPT
}

# speed_of LOG: the median of what it says, the first lines left out.
speed_of() {
  sed -n 's/.*"tokens_per_second":\([0-9]*\).*/\1/p' "$1" | sed 1,4d | sort -n | awk '
    { x[NR] = $1 }
    END {
      if (NR) printf "median of %d: %d source + target tokens a second\n", NR, x[int((NR + 1) / 2)]
    }'
}
