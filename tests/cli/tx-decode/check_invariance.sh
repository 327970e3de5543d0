# --check-invariance: a report that ends with the verdict.
make_model model layers 1
awk 'BEGIN { for (i = 0; i < 50; ++i) { for (j = 0; j < i % 11; ++j)
  printf "w%d ", 4 + (i * 31 + j * 17) % 56; print "" } }' > in
for precision in fp32 bf16 int8; do
  expect_status 0 tx-decode -m model --check-invariance --max-extra 5 --threads 2 \
    --precision $precision < in
  expect_stdout <<END
50 lines in $precision, batches of 1024 tokens
identical bits: one line per batch, 1 worker
identical bits: in reverse order, 7 lines per batch, 3 workers
identical bits: shuffled, 2 to 33 lines per batch, 2 threads
identical bits: shuffled, 64 lines per batch, 3 threads
verdict: translations and scores are batch-invariant
END
  expect_empty_stderr
done
expect_status 0 tx-decode -m model --check-invariance --sample --nbest 2 --max-extra 5 in
expect_stdout_contains 'verdict: translations and scores are batch-invariant'
expect_status 0 tx-decode -m model --check-invariance < /dev/null
expect_stdout_contains '0 lines in '

# Warnings for truncated lines; errors name the line.
printf 'w4 w5 w6\n' > long
expect_status 0 tx-decode -m model --check-invariance --max-length 2 long
expect_stderr_contains 'long:1: 3 tokens, cut to the first 2'
printf '5\n99999\n' > bad
expect_status 1 tx-decode -m model --check-invariance --ids bad
expect_stderr_contains 'bad:2: '
expect_usage_error '--status cannot be used with --check-invariance' \
  tx-decode -m model --check-invariance --status records long
expect_usage_error '--scores cannot be used with --check-invariance' \
  tx-decode -m model --check-invariance --scores in
