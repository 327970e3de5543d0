# A source longer than a model's learned positions is truncated with a warning.
make_model model layers 1 positions learned max_positions 60
awk 'BEGIN { for (i = 0; i < 100; ++i) printf "w5 "; print "" }' > long
expect_status 0 tx-decode --max-extra 5 -m model long
expect_stderr_contains '(the maximum of the model); --split N translates longer lines sentence by sentence'
expect_status 0 tx-decode --max-extra 5 -m model --max-length 7 long
expect_stderr_contains '(--max-length); --split N translates longer lines sentence by sentence'
expect_status 0 tx-decode --max-extra 5 -m model --max-length 7 --split 7 long
expect_stderr_contains 'cut to the first 7 (--max-length)'
expect_stderr_lacks '--split'
expect_status 0 tx-decode --max-extra 5 -m model --max-length 7 --word-scores long # which excludes it
expect_stderr_lacks '--split'
for tool in "tx-decode --max-extra 5" "tx-attn-dump --max-extra 5"; do
  expect_status 0 $tool -m model --threads 0 long
  expect_stderr_contains 'long:1: 100 tokens, cut to the first 59 (the maximum of the model)'
  expect_status 0 $tool -m model --threads 0 --max-length 7 long
  expect_stderr_contains 'long:1: 100 tokens, cut to the first 7 (--max-length)'
done
