# examples/classify.sh: the examples and their labels, the table, and resuming.
awk 'BEGIN {
  for (i = 1; i <= 300; ++i)
    print (i % 5 ? (i % 3 ? "a w" i % 7 " is" : "two w" i % 7 "s are") " in" : "he sleeps in") " w" i
}' > train
awk 'NR > 250 && !/he/' train > valid
classify() {
  sh "$TX_SOURCE/examples/classify.sh" train valid out LABELLED='20 40' TESTED=30 VOCAB=300 MASK=4 \
    BASE='--preset toy --threads 1' DENOISE=4 STEPS=4 TUNE='--threads 1' \
    LABEL='--batch-tokens 100' "$@"
}
expect_status 0 classify
last_stdout > table
accuracy='[0-9.]* ± [0-9.]*'
grep -q '^| word before the verb | | 100.0 ± 0.0 |$' table || fail "$(cat table)"
grep -q "^| encoder, is or are in the gap | masked tokens | $accuracy |$" table || fail "$(cat table)"
for row in 'encoder | none' 'encoder | masked tokens' 'encoder-decoder, label as text | none' \
  'encoder-decoder, label as text | gaps'; do
  grep -q "^| $row | | $accuracy | $accuracy |$" table || fail "$row: $(cat table)"
done
# Pretraining reads no line of the labelled and test texts.
sed 's/ \(is\|are\) / <verb> /' out/plain | sort > plain
sort out/test.lines out/40.lines > examples
[ "$(cat plain examples | wc -l)" = 300 ] || fail "$(wc -l plain examples)"
comm -12 plain examples > twice
[ ! -s twice ] || fail "$(cat twice)"
for name in test 20 40; do
  [ "$(sort out/$name.labels | uniq -c | awk '{ print $1 }' | uniq | wc -l)" = 1 ] ||
    fail "$name: more of one label"
done
tail -n 20 out/40 > expected
expect_same expected out/20
# The mask of one token stands for the label alone: no token of a space precedes it.
sed 's/two .*/<plural>/; s/a .*/<singular>/' out/test.lines |
  paste -d '\0' out/test.lines - > expected
expect_same expected out/test
grep -q '"init": "out/masked"' out/masked-tuned-20/config.json || fail 'no pretraining'
grep -q '"init": "out/denoised"' out/text-tuned-40/config.json || fail 'no pretraining'
grep -q '"init": ""' out/text-none-40/config.json || fail 'pretraining'
# A row counts labels that are right.
paste -d ' ' out/text-tuned-40.out out/test.labels | awk '$1 == $2 { ++n } END {
  printf "%.1f\n", 100 * n / NR }' > expected
sed -n 's/^| encoder-decoder.* gaps .* | \([0-9.]*\) ± [0-9.]* |$/\1/p' table > got
expect_same expected got
expect_status 0 classify
expect_same table "$TX_LAST/stdout"
expect_status 2 classify STEPS=5
