# NUL, CR, U+2028, invalid UTF-8, a long line: each has its record, in order.
make_model model
{
  printf 'w5\000w6\nw7\r\nw8\342\200\250w9\nw5 \377 w6\n'
  awk 'BEGIN { for (i = 0; i < 50000; ++i) printf "w%d ", 4 + i % 50; print "" }'
  printf 'w5'
} > in
expect_status 0 tx-attn-dump -m model --max-length 6 --digits 2 < in
expect_stdout_lines 6
expect_stderr_contains 'tx-attn-dump: warning: standard input:5: 50,000 tokens, cut to the first 6 (--max-length)'
expect_stderr_contains 'standard input:4: not valid UTF-8; replaced by U+FFFD'
expect_stderr_contains 'standard input:1: has a NUL byte'
expect_stderr_contains 'standard input:2: ends with CR LF'
last_stdout | sed -n 5p |
  grep -qF '"source":["w4","w5","w6","w7","w8","w9","</s>"]' || fail 'the tokens of line 5'
# Line 3 is a word that is not in the vocabulary, which --strict refuses, too.
expect_status 1 tx-attn-dump -m model --strict < in
expect_stdout_lines 2
expect_stderr_contains "tx-attn-dump: standard input:3: 'w8\\u2028w9' is not in the vocabulary"
sed 3d in > known
expect_status 1 tx-attn-dump -m model --strict < known
expect_stdout_lines 2
expect_stderr_contains 'tx-attn-dump: standard input:3: not valid UTF-8'
expect_status 0 tx-attn-dump -m model < /dev/null
expect_empty_stdout
gzip -c in > in.gz
expect_status 0 tx-attn-dump -m model --max-length 6 in.gz
expect_stdout_lines 6
# A line of 1 MB, and a closed pipe.
awk 'BEGIN { for (i = 0; i < 300000; ++i) printf "w%d ", 4 + i % 50; print "" }' > megabyte
expect_status 0 tx-attn-dump -m model --max-length 6 --digits 2 megabyte
expect_stdout_lines 1
expect_stderr_contains '300,000 tokens, cut to the first 6 (--max-length)'
status=0
(yes 'w5 w6' | tx-attn-dump -m model || echo "status $?" >&2) 2> err | head -n 1 > first
expect_file first
grep -v '^status 141$' err > rest || true
[ ! -s rest ] || fail "$(cat rest)"
