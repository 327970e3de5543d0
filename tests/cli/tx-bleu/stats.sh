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
tx-bleu --stats --tokenize none ref.2 < hyp.2 > none.stats
tx-bleu --stats ref.2 < hyp.2 > 13a.stats
expect_status 1 tx-bleu --from-stats 13a.stats none.stats
expect_stderr 'tx-bleu: the statistics cannot be combined: 13a.stats has case:mixed|eff:no|tok:13a|smooth:exp, none.stats has case:mixed|eff:no|tok:none|smooth:exp; make both with the same options'
tx-bleu --stats --max-order 3 ref.2 < hyp.2 > three.stats
expect_status 1 tx-bleu --from-stats 13a.stats three.stats
expect_stderr_contains 'max_order'
expect_status 1 tx-bleu --from-stats 1.stats 13a.stats
expect_stderr_contains '1.stats has 3 metrics, 13a.stats has 1 metric;'

sed 's/^1\t5 5/1\t5 x/' 13a.stats > letter.stats
expect_status 1 tx-bleu --from-stats letter.stats
expect_stderr 'tx-bleu: letter.stats line 2: not a number at byte 5'
sed 's/^1\t5 /1\t/' 13a.stats > fewer.stats
expect_status 1 tx-bleu --from-stats fewer.stats
expect_stderr 'tx-bleu: fewer.stats line 2: 10 numbers instead of 11'
expect_status 1 tx-bleu --from-stats hyp.1
expect_stderr_contains 'hyp.1 line 1: expected the first line of tx-bleu --stats'
sed 's/"columns":\["hyp/"columns":["hop/' 13a.stats > header.stats
expect_status 1 tx-bleu --from-stats header.stats
expect_stderr_contains 'header.stats: the header of the statistics is damaged'
sed 's/"lowercase":false/"lowercase":7/' 13a.stats > header.stats
expect_status 1 tx-bleu --from-stats header.stats
expect_stderr 'tx-bleu: header.stats: the header of the statistics is damaged: the options of its metric: lowercase is 7, not true or false'
sed 1q 13a.stats > empty.stats
expect_status 1 tx-bleu --from-stats empty.stats
expect_stderr 'tx-bleu: nothing to score: empty.stats is empty'

# Invalid headers and numbers are errors.
tx-bleu --stats --metric chrf ref.2 < hyp.2 > chrf.stats
sed 's/1 \[\(.*\)\]/1 {"0":\1}/' 13a.stats > object.stats
expect_status 1 tx-bleu --from-stats 13a.stats object.stats
expect_stderr 'tx-bleu: object.stats line 1: the header of the statistics is not a list of metrics'
sed 's/"settings":"[^"]*"/"settings":5/' 13a.stats > five.stats
expect_status 1 tx-bleu --from-stats 13a.stats five.stats
expect_stderr_contains '13a.stats has case:mixed|eff:no|tok:13a|smooth:exp, five.stats has 5;'
for beta in 1e300 4294967298 true; do
  sed "s/\"beta\":2/\"beta\":$beta/" chrf.stats > beta.stats
  expect_status 1 tx-bleu --from-stats beta.stats
  expect_stderr_contains 'beta is not a whole number from 0 to 1,000'
done
sed 's/"smoothing":"exp"/"smoothing":"add-k","smoothing_value":1e308/' 13a.stats > smooth.stats
expect_status 1 tx-bleu --json --from-stats smooth.stats
expect_stderr_contains 'smoothing_value is 1e+308, not a number from 0 to 1,000,000,000'
sed 's/^1\t5 5/1\t5 1e-310/' 13a.stats > tiny.stats
expect_status 1 tx-bleu --json --from-stats tiny.stats
expect_stderr 'tx-bleu: tiny.stats line 2: reference_length is not a count'
sed 's/^1\t5 5/1\t8e15 5/' 13a.stats > large.stats
expect_status 0 tx-bleu --from-stats large.stats
expect_status 1 tx-bleu --from-stats large.stats large.stats
expect_stderr 'tx-bleu: large.stats line 2: the sums are too large to be exact counts (2^53)'
for count in 0 1.5 1e7; do
  sed "s/^1\t/$count\t/" 13a.stats > count.stats
  expect_status 1 tx-bleu --from-stats count.stats
  expect_stderr 'tx-bleu: count.stats line 2: the first number is not a number of references'
done
