# Several metrics at once, in sacreBLEU's order and format; the figures are sacreBLEU 2.6's.
cat > ref <<'END'
the cat sat on the mat today
it's 3.5 degrees, "very" cold
END
cat > hyp <<'END'
today the cat sat on a mat
it's 3.5 degrees , very cold
END
expect_status 0 tx-bleu --metric ter,chrf,bleu --digits 2 ref < hyp
expect_stdout <<'END'
        BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 43.11 92.3/54.5/44.4/28.6 (BP = 0.857 ratio = 0.867 hyp_len = 13 ref_len = 15)
      chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0 = 66.18
TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0 = 41.67
END
expect_status 0 tx-bleu --metric chrf++,ter --score-only --ter-no-punct ref < hyp
expect_stdout <<'END'
66.0
16.7
END
expect_status 0 tx-bleu --metric chrf --chrf-word-order 1 --chrf-beta 3 --chrf-whitespace --chrf-char-order 4 ref < hyp
expect_stdout_contains 'chrF3+|nrefs:1|case:mixed|eff:yes|nc:4|nw:1|space:yes|version:2.6.0 = '
expect_status 0 tx-bleu --smooth floor --smooth-value 0.01 --max-order 2 ref < hyp
expect_stdout_contains '|smooth:floor[0.01]|version:2.6.0 = '
expect_stdout_contains ' 92.3/54.5 (BP'
expect_status 0 tx-bleu --metric chrf,ter --json ref < ref
expect_stdout_contains '"name": "chrF2"'
expect_stdout_contains '"reference_length": 12.0'

expect_usage_error 'chrf++ has word order 2' tx-bleu --metric chrf++ --chrf-word-order 3 ref
