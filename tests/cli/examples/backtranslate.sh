# examples/backtranslate.sh: the texts that it makes, and resuming.
sh "$TX_SOURCE/examples/number_words.sh" 300 20 20 .
backtranslate() { # DIR SETTING...
  dir=$1
  shift
  sh "$TX_SOURCE/examples/backtranslate.sh" . "$dir" VALID=valid TEST=test FORM= VOCAB=300 \
    SCORE='--metric chrf' BASE='--preset toy --threads 1' "$@"
}
expect_status 0 backtranslate out PAIRS=200 STEPS=20
cp "$TX_LAST/stdout" table
for side in en de; do
  head -n 200 train.$side > expected
  expect_same expected out/parallel.$side
  head -n 200 out/both.$side > first
  expect_same expected first
done
tail -n 100 train.de > expected
expect_same expected out/monolingual.de
[ "$(wc -l < out/sources)" -eq 100 ] || fail 'not one source for each line'
# Sources have the tag, which is one token; lines without a source are left out.
tail -n +201 out/both.en > synthetic
grep -v '^<bt> .' synthetic > wrong && fail "$(cat wrong)"
grep '[^ ]' out/sources | sed 's/^/<bt> /' > expected
expect_same expected synthetic
[ "$(wc -l < out/both.de)" -eq "$(wc -l < out/both.en)" ] || fail 'sides of different lengths'
echo '<bt> one' | tx-bpe encode -m out/bpe.model > pieces
grep -qx '.*<bt> .*' pieces || fail "$(cat pieces)"
for row in 'parallel text | 200' "and back-translations | $(wc -l < out/both.de)" 'all pairs | 300'; do
  grep -q "^| $row | [0-9.]* ± [0-9.]* |$" table || fail "$row: $(cat table)"
done

rm -r out/whole
expect_status 0 backtranslate out PAIRS=200 STEPS=20
expect_same table "$TX_LAST/stdout"
expect_status 1 backtranslate none PAIRS=300 STEPS=2
expect_stderr_contains 'backtranslate.sh: all pairs are parallel'
