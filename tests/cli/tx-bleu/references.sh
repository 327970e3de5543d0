# Several references: the highest count of each n-gram, the closest length.
printf 'a b c d e\n' > hyp
printf 'a b c x x x\n' > one
printf 'x c d e\n' > two
expect_status 0 tx-bleu one two < hyp
expect_stdout <<'EOF'
BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 63.9 100.0/100.0/66.7/25.0 (BP = 1.000 ratio = 1.250 hyp_len = 5 ref_len = 4)
EOF

# References separated by tabs in one file; a field may be empty but must exist.
paste one two > tabs
expect_status 0 tx-bleu --num-refs 2 tabs < hyp
expect_stdout_contains 'BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 63.9 '
printf 'a b\na b\n' > two_lines
printf 'a b\tc\na b\t\n' > missing
expect_status 0 tx-bleu --num-refs 2 missing < two_lines
expect_stdout_contains '|nrefs:2|'
expect_status 0 tx-bleu --num-refs 2 --skip-empty missing < two_lines
expect_stdout_contains '|nrefs:var|'
printf 'a b\tc\na b\n' > short
expect_status 1 tx-bleu --num-refs 2 short < two_lines
expect_stderr 'tx-bleu: short line 2 has 1 of 2 references separated by tabs; write an empty field where one is missing'
printf 'a b\tc\n \t\n' > none
expect_status 1 tx-bleu --num-refs 2 --skip-empty none < two_lines
expect_stderr_contains 'none line 2 has no reference'

# Only the white space at the end of a line is left out, as in sacreBLEU 2.6.0.
echo 'the cat sat' > hyp
printf 'the cat   \ta cat sat \n' > refs
expect_status 0 tx-bleu --metric chrf --chrf-whitespace --num-refs 2 -b -w 4 refs -i hyp
expect_stdout 78.3850
