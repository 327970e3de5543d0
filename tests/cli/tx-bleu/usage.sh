# A wrong command line begins nothing.
printf 'a\n' > ref
expect_usage_error 'no reference file' tx-bleu
expect_usage_error 'one of 13a, intl, char, zh, none, spm' tx-bleu --tokenize 14 ref
expect_usage_error 'not built in' tx-bleu --tokenize ja-mecab ref
expect_usage_error '-m FILE' tx-bleu --tokenize spm ref
expect_usage_error 'a model is for' tx-bleu -m ref ref
expect_usage_error '-m bleu: there is no model of that name; did you mean --metric bleu?' tx-bleu -m bleu ref
expect_usage_error 'did you mean --metric chrf++,ter?' tx-bleu --tokenize spm -m chrf++,ter ref
expect_status 0 tx-bleu --metric chrf++,ter ref < ref
expect_usage_error --width tx-bleu --width 99 ref
expect_usage_error 'standard input' tx-bleu - < ref
expect_usage_error 'exp, floor, add-k, none' tx-bleu --smooth cap ref
expect_usage_error 'takes no value' tx-bleu --smooth-value 1 ref
expect_usage_error 'no metric is called "rouge"' tx-bleu --metric bleu,rouge ref
expect_usage_error 'no metric is called ""' tx-bleu --metric bleu, ref
expect_usage_error 'given twice' tx-bleu --metric ter,ter ref
expect_usage_error --max-order tx-bleu --max-order 0 ref
expect_usage_error 'in one file' tx-bleu --num-refs 2 ref ref
expect_usage_error 'needs two systems' tx-bleu --paired-bootstrap ref
expect_usage_error 'choose one' tx-bleu --paired-bootstrap --paired-approximate -i a -i b ref
expect_usage_error 'one system' tx-bleu --sentence -i a -i b ref
expect_usage_error 'given twice' tx-bleu -i ref -i ref ref
expect_usage_error 'tx-stats(5)' tx-bleu --stats --json ref
expect_usage_error 'no further file' tx-bleu --from-stats -i a ref
