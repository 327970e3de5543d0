# The JSON object is sacreBLEU's plus the figures of the score.
printf 'a b c d e\n' > text
expect_status 0 tx-bleu --json --digits 2 text < text
expect_stdout <<'EOF'
{
 "name": "BLEU",
 "score": 100.0,
 "signature": "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0",
 "verbose_score": "100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 5 ref_len = 5)",
 "nrefs": "1",
 "case": "mixed",
 "eff": "no",
 "tok": "13a",
 "smooth": "exp",
 "version": "2.6.0",
 "statistics": {
  "matched": [
   5,
   4,
   3,
   2
  ],
  "total": [
   5,
   4,
   3,
   2
  ],
  "precisions": [
   100.0,
   100.0,
   100.0,
   100.0
  ],
  "brevity_penalty": 1.0,
  "ratio": 1.0,
  "hypothesis_length": 5,
  "reference_length": 5
 }
}
EOF

expect_usage_error '--score-only cannot be used with --json' tx-bleu --json --score-only text < text
