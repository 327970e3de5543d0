# Several systems: a table, tests against the first, the same figures from files of statistics.
awk 'BEGIN { for (i = 0; i < 60; ++i) print "a b c d e f " i % 7 " h i j" }' > ref
sed 's/c d/d c/; 1~3s/ e / x /' ref > one
sed 's/b c/c b/; 1~4s/ e / x /; 1~2s/ h//' ref > two
expect_status 0 tx-bleu --metric bleu,ter ref -i one -i two
expect_stdout <<'END'
System  BLEU  TER
one     57.1  13.3
two     49.0  17.5

BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0
TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0
END
expect_status 0 tx-bleu --score-only ref -i one -i two
printf '57.1\n49.0\n' | expect_stdout

expect_status 0 tx-bleu --paired-bootstrap --resamples 200 ref -i one -i two
expect_stdout_contains 'System         BLEU (μ ± 95% CI)'
expect_stdout_contains 'Baseline: one  57.1 (57.0 ± 1.4)'
expect_stdout_contains 'two            49.0 (48.7 ± 6.0) (p = 0.0100)*'
expect_stdout_contains '|bs:200|seed:12345|'
last_stdout > bootstrap
expect_status 0 tx-bleu --paired-bootstrap --resamples 200 --seed 7 ref -i one -i two
expect_stdout_contains '|bs:200|seed:7|'
! cmp -s bootstrap "$TX_LAST/stdout" || fail "--seed changes nothing"
expect_status 0 tx-bleu --paired-approximate --trials 100 --json ref -i one -i two
expect_stdout_contains '"p_value": '
expect_stdout_contains '|ar:100|seed:12345|'
expect_status 0 tx-bleu --confidence --resamples 100 ref -i one
expect_stdout_contains ' = 57.1 (μ = 5'

for system in one two; do tx-bleu --stats ref -i $system > $system.stats; done
expect_status 0 tx-bleu --from-stats --paired-bootstrap --resamples 200 -i one.stats -i two.stats
sed 's/one/one.stats/; s/two/two.stats/' bootstrap | tr -s ' ' > wanted
last_stdout | tr -s ' ' > got
expect_same wanted got
head -20 two.stats > short.stats
expect_status 1 tx-bleu --from-stats -i one.stats -i short.stats
expect_stderr 'tx-bleu: one.stats has 60 segments, short.stats has 19; give statistics of the same segments'
