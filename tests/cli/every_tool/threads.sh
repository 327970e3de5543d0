# If threads cannot be started (ulimit -u, the limit of a container), fewer are used with a
# warning, and the results are the same; if not even the first can be started, it is an error.
# Nothing hangs.
[ "$TX_SANITIZE" != ON ] || exit 0 # their runtime must be the first library
. "$TX_SOURCE/tests/cli/train.sh"
small_text
small_train -o run 2> /dev/null
tx-decode -m run --precision fp32 --threads 1 valid.en > translated
tx-bpe encode -m bpe.model --threads 1 train.en > pieces
tx-bleu --confidence --threads 1 valid.de -i valid.en > score
tx-attn-dump -m run --precision fp32 --threads 1 valid.en > maps

# with THREADS COMMAND...: at most THREADS run in addition to the first.
with() {
  left=$1
  shift
  env LD_PRELOAD="$TX_BUILD/tests/libfault.so" TX_FAULT="thread EAGAIN - $left" timeout 100 "$@"
}
# expect_fewer TOOL: expects a warning with their number.
expect_fewer() {
  expect_stderr_contains "$1: warning: only $((left + 1)) of 4 threads can be started"
}
for left in 0 1 2; do
  expect_status 0 with $left tx-bpe encode -m bpe.model --threads 4 train.en
  expect_stdout_file pieces
  expect_fewer tx-bpe
  expect_status 0 with $left tx-bleu --confidence --threads 4 valid.de -i valid.en
  expect_stdout_file score
  expect_fewer tx-bleu
  expect_status 0 with $left tx-attn-dump -m run --precision fp32 --threads 4 valid.en
  expect_stdout_file maps
  expect_fewer tx-attn-dump
  runner="with $left"
  rm -rf fewer
  expect_status 0 small_train --threads 4 -o fewer
  expect_fewer tx-train
  grep -q "\"threads\": $((left + 1))" fewer/config.json || fail "config.json has another number of threads"
done
for left in 2 3; do  # a reader, a writer and a worker
  expect_status 0 with $left tx-decode -m run --precision fp32 --threads 8 valid.en
  expect_stdout_file translated
  expect_stderr_contains "only $((left + 1)) of 8 threads"
done
# In both precisions: the threads that prepared the weights are released.
expect_status 0 with 2 tx-decode -m run --precision auto --threads 8 valid.en
expect_status 1 with 0 tx-decode -m run --precision fp32 --threads 1 valid.en
expect_empty_stdout
expect_stderr_contains "tx-decode: cannot start a thread: Resource temporarily unavailable; the limit"
