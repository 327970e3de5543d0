# The score line, its parts, and all ways to give the files.
cat > ref <<'EOF'
the cat sat on the mat
it's 3.5 degrees, "very" cold
EOF
cat > hyp <<'EOF'
the cat sat on a mat
it's 3.5 degrees , very cold
EOF
line='BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 46.6'
line="$line 91.7/60.0/50.0/33.3 (BP = 0.846 ratio = 0.857 hyp_len = 12 ref_len = 14)"

expect_status 0 tx-bleu ref < hyp
expect_stdout "$line"
expect_empty_stderr
expect_status 0 tx-bleu ref -i hyp
expect_stdout "$line"
expect_status 0 tx-bleu --input hyp - < ref
expect_stdout "$line"
gzip -c ref > ref.gz
expect_status 0 tx-bleu ref.gz < hyp
expect_stdout "$line"

expect_status 0 tx-bleu --score-only --digits 4 ref < hyp
expect_stdout 46.5769
expect_status 0 tx-bleu --score-only --digits 0 ref -i ref
expect_stdout 100
expect_status 0 tx-bleu --tokenize none ref -i hyp
expect_stdout_contains '|tok:none|'
