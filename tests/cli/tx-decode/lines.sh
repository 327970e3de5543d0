# As many lines out as in, in order; blank lines stay blank; a last line without newline counts.
make_model model
printf 'w5 w6 w7\n\nw9\n \t \nw5 w6 w7' > in
expect_status 0 tx-decode -m model -q < in
expect_stdout_lines 5
expect_empty_stderr
last_stdout > out
[ "$(sed -n 1p out)" = "$(sed -n 5p out)" ] || fail 'the same line has two translations'
[ -z "$(sed -n '2p;4p' out | tr -d '\n')" ] || fail 'blank lines are not blank'
[ -n "$(sed -n 3p out)" ] || fail 'line 3 is empty'
expect_status 0 tx-decode -m model < /dev/null
expect_empty_stdout
expect_status 0 tx-decode -m model in in
expect_stdout_lines 10
gzip -c in > in.gz
expect_status 0 tx-decode -m model in.gz
expect_stdout_file out
