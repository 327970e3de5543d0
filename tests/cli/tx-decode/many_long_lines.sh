# Ten warnings name their lines; the rest are counted.
make_model model
awk 'BEGIN { for (i = 0; i < 25; ++i) print "w5 w6 w7 w8" }' > in
expect_status 0 tx-decode -m model --max-length 3 --max-extra 0 < in
expect_stdout_lines 25
[ "$(last_stderr | grep -c 'warning:')" -eq 11 ] || fail 'not eleven warnings'
expect_stderr_contains 'tx-decode: warning: standard input:10: 4 tokens'
expect_stderr_contains 'tx-decode: warning: 25 lines in all were cut'
