# --to: the precision of the weights in the file.
. "$TX_SOURCE/tests/cli/small_run.sh"
write_text train 60
train_small run
for to in fp32 bf16 int8; do
  expect_status 0 tx-avg --to $to -q -o $to run
  expect_status 0 tx-avg --to $to -q -o again run
  expect_same $to again
done
size() { wc -c < "$1"; }
[ "$(size bf16)" -lt "$(size fp32)" ] && [ "$(size int8)" -lt "$(size bf16)" ] ||
  fail 'lower precision gives no smaller file'

# bf16 weights give the same outputs as --precision bf16.
decode='tx-decode --precision bf16 --scores --max-extra 5'
$decode -m run train.src > wanted
$decode -m bf16 train.src > got
expect_same wanted got

expect_status 1 tx-avg -o none int8
expect_stderr 'tx-avg: int8 holds 8-bit weights, which do not give back what they were made of; give the model that it was made from'
expect_usage_error '--to' tx-avg --to fp16 -o none run
expect_no_file none
