# No lines have no score, but empty lines count as lines.
: > nothing
expect_status 1 tx-bleu nothing < nothing
expect_empty_stdout
expect_stderr 'tx-bleu: nothing to score: all files are empty'
printf '\n\n' > blank
expect_status 0 tx-bleu blank < blank
expect_stdout <<'EOF'
BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 0.0 0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 0.000 hyp_len = 0 ref_len = 0)
EOF
printf 'a b c d\n\n' > half
printf 'a b c d\ne\n' > full
expect_status 0 tx-bleu --score-only full < half
expect_stdout 77.9

# A score of 0 that is due to the length of the text is explained on standard error.
printf 'yes\nno\n' > words
why='BLEU is 0 because the hypotheses have no 2-gram: no line has so many words; --effective-order leaves out the orders that are missing'
expect_status 0 tx-bleu --score-only words < words
expect_stdout 0.0
expect_stderr "tx-bleu: $why"
printf 'a b c\n' > three
expect_status 0 tx-bleu --score-only three < three
expect_stderr_contains 'have no 4-gram: no line has so many words'
expect_status 0 tx-bleu --score-only --effective-order three < three
expect_stdout 100.0
expect_empty_stderr
tx-bleu --stats words < words > stats
expect_status 0 tx-bleu --from-stats --score-only stats
expect_stderr "tx-bleu: $why"
cp words other
expect_status 0 tx-bleu words -i words -i other
expect_stderr_contains "tx-bleu: other: $why"
printf 'a b c d e\n' > ref
printf 'a b c x e\n' > hyp
expect_status 0 tx-bleu --smooth none --score-only ref < hyp
expect_stdout 0.0
expect_stderr_contains 'BLEU is 0 because the references have no 4-gram of the hypotheses and there is no smoothing'
expect_status 0 tx-bleu -q --smooth none --score-only ref < hyp
expect_empty_stderr
# Without common n-grams, or if blank, 0 needs no explanation.
for text in words blank; do
  yes z | head -n 2 > ref
  expect_status 0 tx-bleu --score-only ref < $text
  expect_stdout 0.0
  expect_empty_stderr
done
