# The workloads of bench.sh and measure.sh. `scale` divides sizes.
#

# Writes random words of a vocabulary of WMT's size, in sentences of 6 to 48 words; train.sh PRESET
# TOKENS OPTION..., which trains on them; and decode.sh TOKENS OPTION..., which translates some with
# random.safetensors. Outputs end 3 tokens after the length of their source; speed is printed with and
# without start-up.
synthetic() {
  awk -v pairs=$((24000 / scale)) -v words=$((37000 / scale)) -v tests=$((1000 / scale + 2)) 'BEGIN {
    state = 1000003
    for (i = 0; i < pairs; ++i) {
      source = target = ""
      for (n = 6 + below(43); n > 0; --n) {
        source = source " w" 4 + below(words - 4)
        target = target " w" 4 + below(words - 4)
      }
      print substr(source, 2) > "train.src"
      print substr(target, 2) > "train.tgt"
      if (i < tests) print substr(source, 2) > "test.src"
    }
  }
  function below(count) {
    state = state * 16807 % 2147483647
    return int(state / 2147483647 * count)
  }'
cat > train.sh <<'SCRIPT'
preset=$1 tokens=$2
shift 2
exec tx-train --device "${TX_DEVICE:-cuda}" --precision "${TX_PRECISION:-bf16}" --preset "$preset" \
  --vocab words --src train.src --tgt train.tgt --batch-tokens "$tokens" \
  --log-every 5 --save-every 0 --cache cache -o "$preset" "$@"
SCRIPT
cat > decode.sh <<'SCRIPT'
tokens=$1
shift
milliseconds() { echo $(($(date +%s%N) / 1000000)); }
run() {
  tx-decode -m random.safetensors --device cuda --precision bf16 --pieces --max-extra 3 \
    --batch-tokens "$tokens" "$@"
}
begin=$(milliseconds)
head -n 1 test.src | run "$@" > first || exit 1
middle=$(milliseconds)
run "$@" < test.src > all || exit 1
end=$(milliseconds)
awk -v start=$((middle - begin)) -v whole=$((end - middle)) '
  { n += NF + 1 }
  END {
    spent = whole - start > 1 ? whole - start : 1
    printf "%d lines, %d target tokens: %d tokens/s with start-up, %d without (%.1f s)\n",
      NR, n, n / whole * 1000, n / spent * 1000, start / 1000
  }' all
SCRIPT
}

# A base model with random weights.
random_model() {
  width=512
  [ "$scale" -lt 100 ] || width=64 # an emulated GPU is slow
  part 60 "a base model with random weights" make_model random.safetensors d_model $width \
    d_ff $((4 * width)) heads $((width / 64)) layers 6 words $((37000 / scale))
}

# speed_of LOG: the median speed, without the first quarter of the lines.
speed_of() {
  sed -n 's/.*"tokens_per_second":\([0-9]*\).*/\1/p' "$1" | awk '
    { x[NR] = $1 }
    END { for (i = int(NR / 4) + 1; i <= NR; ++i) print x[i] }' | sort -n | awk '
    { x[NR] = $1 }
    END {
      if (NR) printf "median of %d: %d source + target tokens/s\n", NR, x[int((NR + 1) / 2)]
    }'
}
