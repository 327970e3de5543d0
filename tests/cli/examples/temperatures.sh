# examples/temperatures.sh: perplexity, the table, and resuming.
sh "$TX_SOURCE/examples/number_words.sh" 300 20 20 .
for name in train valid test; do paste -d ' ' $name.en $name.de $name.en $name.de > $name; done
temperatures() {
  sh "$TX_SOURCE/examples/temperatures.sh" train valid test out EVERY=1 STEPS=20 VOCAB=300 WORDS=2 \
    PROMPTS=10 TEMPERATURES='0 1 3' BASE='--preset toy --threads 1'
}
expect_status 0 temperatures
last_stdout > table
grep -q '^TEST: log P .* perplexity [0-9.]*$' table || fail "$(cat table)"
for name in test 0 1 3; do
  grep -q "^| $name | -[0-9.]* | [0-9.]* | [0-9.]* | [0-9.]* |$" table || fail "$name: $(cat table)"
done
head -n 10 test > expected
cut -f 1,4 out/test | tr -d '\t' > got
expect_same expected got
# Triples that occur again, as in counts of hundreds and thousands.
awk '{ gsub(/ /, "  "); for (i = 3; i <= split($0, w); ++i) { ++n; k = w[i-2] " " w[i-1] " " w[i]
  again += (NR, k) in seen; seen[NR, k] } words += split($0, w) - 2 }
  END { printf "%.1f %.1f\n", 100 * again / n, words / NR }' expected > figures
awk '/^[|] test / { print $6, $10 }' table > got
expect_same figures got
# Scores are those of the model, whatever the temperature.
tx-decode -q -m out/run --sample --temperature 3 --scores < out/prompts |
  awk -F '\t' '{ sum += $2; n += split($3, w, " ") } END { printf "%.2f\n", sum / n }' > expected
awk '/^[|] 3 / { print $4 }' table > got
expect_same expected got
expect_status 0 temperatures
expect_same table "$TX_LAST/stdout"
