# Statistics of parts give the score of the whole; statistics with other settings are an error.
printf 'the cat sat on the mat\nit is cold\n' > ref.1
printf 'the cat sat on a mat\nso it is cold\n' > hyp.1
printf 'a dog ran away today\n' > ref.2
printf 'a dog ran far away\n' > hyp.2
cat ref.1 ref.2 > ref
cat hyp.1 hyp.2 > hyp
metrics='--metric bleu,chrf++,ter --smooth floor'
for part in 1 2; do tx-bleu $metrics --stats ref.$part < hyp.$part > $part.stats; done
expect_status 0 tx-bleu $metrics --digits 12 ref < hyp
last_stdout > whole
expect_status 0 tx-bleu --digits 12 --from-stats 1.stats 2.stats
expect_stdout_file whole
cat 1.stats 2.stats > both.stats
expect_status 0 tx-bleu --digits 12 --from-stats - < both.stats
expect_stdout_file whole
expect_status 0 tx-bleu --digits 12 --from-stats -i - < both.stats
expect_stdout_file whole
expect_usage_error '--from-stats with -i takes no further files' tx-bleu --from-stats -i - 1.stats

expect_status 0 tx-bleu --stats ref.2 < hyp.2
expect_stdout <<'END'
#tx-stats 1 [{"metric":"bleu","settings":"case:mixed|eff:no|tok:13a|smooth:exp","columns":["hypothesis_length","reference_length","matched_1","matched_2","matched_3","matched_4","total_1","total_2","total_3","total_4"],"tokenizer":"13a","lowercase":false,"split_compounds":false,"smoothing":"exp","max_order":4,"effective_order":false}]
1	5 5 4 2 1 0 5 4 3 2
END

# Statistics that cannot be combined; damaged headers and numbers.
tx-bleu --stats ref.2 < hyp.2 > 13a.stats
tx-bleu --stats --metric chrf ref.2 < hyp.2 > chrf.stats
tx-bleu --stats --tokenize none ref.2 < hyp.2 > none.stats
tx-bleu --stats --max-order 3 ref.2 < hyp.2 > three.stats
sed 's/"settings":"[^"]*"/"settings":5/' 13a.stats > five.stats
sed 's/^1\t5 5/1\t8e15 5/' 13a.stats > large.stats
expect_status 0 tx-bleu --from-stats large.stats
each_row expect_error tx-bleu --from-stats <<'END'
13a.stats none.stats => tx-bleu: the statistics cannot be combined: 13a.stats has case:mixed|eff:no|tok:13a|smooth:exp, none.stats has case:mixed|eff:no|tok:none|smooth:exp; make both with the same options
13a.stats three.stats => max_order
1.stats 13a.stats => 1.stats has 3 metrics, 13a.stats has 1 metric;
13a.stats five.stats => 13a.stats has case:mixed|eff:no|tok:13a|smooth:exp, five.stats has 5;
hyp.1 => hyp.1 line 1: expected the first line of tx-bleu --stats
large.stats large.stats => tx-bleu: large.stats line 2: the sums are too large to be exact counts (2^53)
END
refused() { # TEXT FILE SED-SCRIPT: after this edit
  sed "$3" "$2.stats" > bad.stats
  expect_error "$1" tx-bleu --json --from-stats bad.stats
}
each_row refused <<'END'
13a 's/^1\t5 5/1\t5 x/' => tx-bleu: bad.stats line 2: not a number at byte 5
13a 's/^1\t5 /1\t/' => tx-bleu: bad.stats line 2: 10 numbers instead of 11
13a 's/"columns":\["hyp/"columns":["hop/' => bad.stats: the header of the statistics is damaged
13a 's/"lowercase":false/"lowercase":7/' => tx-bleu: bad.stats: the header of the statistics is damaged: the options of its metric: lowercase is 7, not true or false
13a 1q => tx-bleu: nothing to score: bad.stats is empty
13a 's/1 \[\(.*\)\]/1 {"0":\1}/' => tx-bleu: bad.stats line 1: the header of the statistics is not a list of metrics
chrf 's/"beta":2/"beta":1e300/' => beta is not a whole number from 0 to 1,000
chrf 's/"beta":2/"beta":4294967298/' => beta is not a whole number from 0 to 1,000
chrf 's/"beta":2/"beta":true/' => beta is not a whole number from 0 to 1,000
13a 's/"smoothing":"exp"/"smoothing":"add-k","smoothing_value":1e308/' => smoothing_value is 1e+308, not a number from 0 to 1,000,000,000
13a 's/^1\t5 5/1\t5 1e-310/' => tx-bleu: bad.stats line 2: reference_length is not a count
13a 's/^1\t/0\t/' => tx-bleu: bad.stats line 2: the first number is not a number of references
13a 's/^1\t/1.5\t/' => tx-bleu: bad.stats line 2: the first number is not a number of references
13a 's/^1\t/1e7\t/' => tx-bleu: bad.stats line 2: the first number is not a number of references
END
