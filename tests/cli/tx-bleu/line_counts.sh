# Files of different lengths: the message has both counts and the first missing line.
printf 'a\nb\nc\n' > three
printf 'a\nb\nc\nd e\nf\n' > five
expect_status 1 tx-bleu five < three
expect_empty_stdout
expect_stderr 'tx-bleu: standard input has 3 lines, five has 5 lines: line 4 of five ("d e") has no counterpart; give files with the same number of lines'
expect_status 1 tx-bleu three -i five
expect_stderr_contains 'three has 3 lines, five has 5 lines: line 4 of five ("d e")'
expect_status 1 tx-bleu three five -i three
expect_stderr_contains 'three has 3 lines, five has 5 lines'
expect_status 1 tx-bleu three < /dev/null
expect_stderr_contains 'standard input has 0 lines, three has 3 lines: line 1 of three ("a")'
