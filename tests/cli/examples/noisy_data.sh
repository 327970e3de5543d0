# examples/noisy_data.sh: what is planted, dropped and kept; resuming, and a text without noise.
sh "$TX_SOURCE/examples/number_words.sh" 400 20 20 .
filter() { # DIR SETTING...
  dir=$1
  shift
  sh "$TX_SOURCE/examples/noisy_data.sh" . "$dir" VALID=valid TEST=test FORM= VOCAB=300 \
    SCORE='--metric chrf' BASE='--preset toy --threads 1' "$@"
}
expect_status 0 filter out STEPS=20
cp "$TX_LAST/stdout" table
[ "$(wc -l < out/planted)" -eq 400 ] || fail 'not every pair is marked'
planted=$(grep -c 1 out/planted)
if [ "$planted" -lt 90 ] || [ "$planted" -gt 150 ]; then fail "$planted of 400 pairs are planted"; fi
# Planted pairs have another target, the others their own; the targets are the same sentences.
paste -d '|' out/planted train.de out/noisy.de | awk -F '|' '($1 == 1) != ($2 != $3)' > wrong
[ "$(wc -l < wrong)" -le 2 ] || fail "$(cat wrong)"
sort train.de > a
sort out/noisy.de > b
expect_same a b
# The pairs with the highest scores are dropped, the others keep their order.
[ "$(wc -l < out/dropped)" -eq 120 ] || fail "$(wc -l < out/dropped) pairs are dropped"
sort -g -k 2,2 out/ranked | tail -n 120 | cut -f 2 | sort -g | head -n 1 > least
awk 'NR == FNR { dropped[$1]; next } !($1 in dropped) { print $2 }' out/dropped out/ranked | sort -g |
  tail -n 1 > most
awk -v a="$(cat least)" -v b="$(cat most)" 'BEGIN { exit !(a >= b) }' || fail "$(cat least most)"
paste out/noisy.en out/noisy.de | awk 'NR == FNR { dropped[$1]; next } !(FNR in dropped)' out/dropped - > a
paste out/kept.en out/kept.de > b
expect_same a b
grep -q '^120 of 400 pairs are dropped, [0-9]* of '"$planted"' planted ones among them: ' table ||
  fail "$(cat table)"
grep -q '^| noisy | 400 | [0-9.]* ± [0-9.]* |$' table || fail "$(cat table)"
grep -q '^| filtered | 280 | [0-9.]* ± [0-9.]* |$' table || fail "$(cat table)"

expect_status 0 filter out STEPS=20
expect_same table "$TX_LAST/stdout"
expect_status 2 filter out STEPS=20 DROP=20
expect_stderr_contains 'now  DROP=20'
expect_status 0 filter clean STEPS=2 NOISE=0 DROP=10
expect_same train.de clean/noisy.de
expect_stdout_contains '40 of 400 pairs are dropped, 0 of 0 planted ones'
expect_status 2 sh "$TX_SOURCE/examples/noisy_data.sh" . other NOISY=1
expect_stderr_contains "noisy_data.sh: unknown setting 'NOISY=1'"
