# Statistics of parts give the score of the whole; those of other settings are refused by name.
printf 'the cat sat on the mat\nit is cold\n' > ref.1
printf 'the cat sat on a mat\nso it is cold\n' > hyp.1
printf 'a dog ran away today\n' > ref.2
printf 'a dog ran far away\n' > hyp.2
cat ref.1 ref.2 > ref
cat hyp.1 hyp.2 > hyp
metrics='--metric bleu,chrf++,ter --width 12 --smooth floor'
for part in 1 2; do tx-bleu $metrics --stats ref.$part < hyp.$part > $part.stats; done
expect_status 0 tx-bleu $metrics ref < hyp
last_stdout > whole
expect_status 0 tx-bleu --width 12 --from-stats 1.stats 2.stats
expect_stdout_file whole
cat 1.stats 2.stats > both.stats
expect_status 0 tx-bleu --width 12 --from-stats - < both.stats
expect_stdout_file whole

expect_status 0 tx-bleu --stats ref.2 < hyp.2
expect_stdout <<'END'
#tx-stats 1 [{"metric":"bleu","settings":"case:mixed|eff:no|tok:13a|smooth:exp","columns":["hypothesis_length","reference_length","matched_1","matched_2","matched_3","matched_4","total_1","total_2","total_3","total_4"],"tokenizer":"13a","lowercase":false,"smoothing":"exp","max_order":4,"effective_order":false}]
1	5 5 4 2 1 0 5 4 3 2
END
tx-bleu --stats --tokenize none ref.2 < hyp.2 > none.stats
tx-bleu --stats ref.2 < hyp.2 > 13a.stats
expect_status 1 tx-bleu --from-stats 13a.stats none.stats
expect_stderr 'tx-bleu: the statistics do not add up: 13a.stats has case:mixed|eff:no|tok:13a|smooth:exp, none.stats has case:mixed|eff:no|tok:none|smooth:exp; make both with the same options'
tx-bleu --stats --max-order 3 ref.2 < hyp.2 > three.stats
expect_status 1 tx-bleu --from-stats 13a.stats three.stats
expect_stderr_contains 'max_order'
expect_status 1 tx-bleu --from-stats 1.stats 13a.stats
expect_stderr_contains '1.stats has 3 metrics, 13a.stats has 1 metrics'

sed 's/^1\t5 5/1\t5 x/' 13a.stats > letter.stats
expect_status 1 tx-bleu --from-stats letter.stats
expect_stderr 'tx-bleu: letter.stats line 2: no number at byte 5'
sed 's/^1\t5 /1\t/' 13a.stats > fewer.stats
expect_status 1 tx-bleu --from-stats fewer.stats
expect_stderr 'tx-bleu: fewer.stats line 2: 10 numbers instead of 11'
expect_status 1 tx-bleu --from-stats hyp.1
expect_stderr_contains 'hyp.1 line 1: no statistics of this version'
sed 's/"columns":\["hyp/"columns":["hop/' 13a.stats > header.stats
expect_status 1 tx-bleu --from-stats header.stats
expect_stderr_contains 'header.stats: the header of the statistics is damaged'
sed 1q 13a.stats > empty.stats
expect_status 1 tx-bleu --from-stats empty.stats
expect_stderr 'tx-bleu: nothing to score: empty.stats is empty'
