# Nothing has no score, but empty lines are lines.
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
