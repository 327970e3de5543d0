# NUL, CR, U+2028, invalid UTF-8, a line of 1 MB: each line has its output.
make_model model
{
  printf 'w5\000w6\nw7\r\nw8\342\200\250w9\nw5 \377 w6 \355\240\200\n'
  awk 'BEGIN { for (i = 0; i < 250000; ++i) printf "w%d ", 4 + i % 50; print "" }'
  printf '\357\273\277w5\n\302\240\343\200\200'
} > in
expect_status 0 tx-decode -m model --status status < in
expect_stdout_lines 7
expect_stderr_contains 'standard input:5: 250,000 tokens, cut to the first 1024 (--max-length)'
expect_stderr_contains 'standard input:4: not valid UTF-8; replaced by U+FFFD'
expect_stderr_contains 'standard input:1: has a NUL byte'
expect_stderr_contains 'standard input:2: ends with CR LF'
cut -f 1,2,3,5 status > states
cut -f 3 status | sed -n 6p | grep -qx 250000 || fail 'the number of tokens of line 5'
sed -n 5p status | grep -q "$(printf '^4\treplaced')" || fail 'the state of line 4'
sed -n 6p status | grep -q "$(printf '^5\tcut')" || fail 'the state of line 5'
sed -n 8p status | grep -q "$(printf '^7\tempty\t0\t0\t0')" || fail 'the state of line 7'
# --strict stops at that line, after the outputs of earlier lines.
sed 3d in > strict
expect_status 1 tx-decode -m model --strict < strict
expect_stdout_lines 2
expect_stderr_contains 'tx-decode: standard input:3: not valid UTF-8'
expect_status 0 tx-decode -m model --max-length 3 --max-extra 0 < in
expect_stderr_contains 'standard input:5: 250,000 tokens, cut to the first 3 (--max-length)'
expect_status 0 tx-decode -m model < /dev/null
expect_empty_stdout
