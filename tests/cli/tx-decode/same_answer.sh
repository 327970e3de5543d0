# Text and scores do not depend on batches, order, other lines or threads.
make_model model
awk 'BEGIN { for (i = 0; i < 120; ++i) { for (j = 0; j <= i % 11; ++j)
  printf "w%d ", 4 + (i * 31 + j * 17) % 56; print "" } }' > in
for precision in bf16 fp32 int8; do
  decode="tx-decode -m model --scores --max-extra 9 --precision $precision"
  expect_status 0 $decode --threads 1 < in
  last_stdout > wanted
  for options in '--threads 1 --batch-tokens 1' '--threads 2 --batch-tokens 50' '--threads 3' \
    '--threads 7 --batch-tokens 100000'; do
    expect_status 0 $decode $options < in
    expect_stdout_file wanted
  done
  tac in > reversed
  expect_status 0 $decode < reversed
  last_stdout | tac > out
  expect_same wanted out
  sed -n 77p in > one
  expect_status 0 $decode < one
  sed -n 77p wanted > out
  expect_stdout_file out
done
