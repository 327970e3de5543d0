# --sentence: a score per line, with sacreBLEU's effective order; nothing for empty input.
printf 'the cat sat down\nyes\n\n' > ref
printf 'the cat sat up\nyes\n\n' > hyp
expect_status 0 tx-bleu --sentence ref < hyp
expect_stdout <<'END'
BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:2.6.0 = 59.5 75.0/66.7/50.0/50.0 (BP = 1.000 ratio = 1.000 hyp_len = 4 ref_len = 4)
BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:2.6.0 = 100.0 100.0/0.0/0.0/0.0 (BP = 1.000 ratio = 1.000 hyp_len = 1 ref_len = 1)
BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:2.6.0 = 0.0 0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 0.000 hyp_len = 0 ref_len = 0)
END
expect_status 0 tx-bleu --sentence --metric bleu,ter --score-only ref < hyp
printf '59.5\t25.0\n100.0\t0.0\n0.0\t0.0\n' | expect_stdout
expect_status 0 tx-bleu --sentence --metric ter --json ref < hyp
expect_stdout_lines 3
expect_status 0 tx-bleu --sentence /dev/null < /dev/null
expect_empty_stdout
