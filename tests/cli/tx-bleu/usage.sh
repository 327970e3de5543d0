# A wrong command line begins nothing.
printf 'a\n' > ref
expect_usage_error REFERENCE tx-bleu
expect_usage_error 'one of 13a, char, none' tx-bleu --tokenize 14 ref
expect_usage_error --width tx-bleu --width 99 ref
expect_usage_error 'standard input' tx-bleu - < ref
expect_usage_error --smooth tx-bleu --smooth floor ref
