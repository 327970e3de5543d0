# Several references: the best count of each n-gram, the closest length.
printf 'a b c d e\n' > hyp
printf 'a b c x x x\n' > one
printf 'x c d e\n' > two
expect_status 0 tx-bleu one two < hyp
expect_stdout <<'EOF'
BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 63.9 100.0/100.0/66.7/25.0 (BP = 1.000 ratio = 1.250 hyp_len = 5 ref_len = 4)
EOF
