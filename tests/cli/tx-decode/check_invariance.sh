# The proof on a text of one's own.
make_model model
awk 'BEGIN { for (i = 0; i < 50; ++i) { for (j = 0; j < i % 11; ++j)
  printf "w%d ", 4 + (i * 31 + j * 17) % 56; print "" } }' > in
for precision in fp32 bf16; do
  expect_status 0 tx-decode -m model --check-invariance --max-extra 5 --threads 2 \
    --precision $precision < in
  expect_stdout <<'END'
50 lines in batches of 1024 pieces
the same bits each line alone
the same bits in reverse order, 7 lines together
the same bits shuffled, 2 to 33 lines together, 2 threads each
END
done
expect_status 0 tx-decode -m model --check-invariance < /dev/null
expect_stdout_contains '0 lines in batches'
