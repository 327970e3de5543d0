# Actual memory use stays within 10 % of the plan, both ways; --memory is respected.
. "$TX_SOURCE/tests/cli/train.sh"
[ "$TX_SANITIZE" != ON ] || exit 0 # the sanitizers use more memory
small_text
shape="--d-model 512 --heads 8 --d-ff 2048 --steps 2 --save-every 2 --batch-tokens 600"

# most COMMAND...: its anonymous memory, see watch_memory.
most() {
  "$@" 2> run.log &
  watch_memory $!
  wait $! || fail "$(cat run.log)"
}

# Without --memory a plan is at most half of the memory.
expect_status 0 tx-train --describe --preset big --device cpu --batch-tokens auto
planned=$(last_stdout | awk '$1 == "total" && $3 == "MiB" { print int($2) }')
[ "$planned" -le $(($(sed -n 's/MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 2048)) ] ||
  fail "$planned MiB"

for options in "--precision fp32" "--precision bf16" "--precision fp32 --layers 2 --recompute" \
  "--precision fp32 --valid-metric bleu" "--precision fp32 --optimizer muon"; do
  # shellcheck disable=SC2086  # lists of words
  small_train $options --describe > /dev/null 2> run.log || {
    [ "$options" = '--precision bf16' ] && continue # not supported here
    fail "$(cat run.log)"
  }
  rm -rf run
  # shellcheck disable=SC2086
  runner=exec most small_train $shape $options -o run
  planned=$(sed -n 's/.*memory plan: \([0-9]*\)\.[0-9] MiB.*/\1/p' run.log)
  [ "$planned" -gt 150 ] || fail "too small to tell: $(cat run.log)"
  echo "$options: planned $planned MiB, used $((peak / 1024)) MiB"
  [ $((peak * 10)) -le $((planned * 1024 * 11)) ] && [ $((peak * 10)) -ge $((planned * 1024 * 9)) ] ||
    fail "$options: planned $planned MiB, used $((peak / 1024)) MiB"
done

# The largest batch that fits: 512 tokens more do not.
resolved() { sed -n 's/.*"batch_tokens_resolved": \([0-9]*\).*/\1/p' "$1/config.json"; }
auto="--d-model 64 --d-ff 256 --steps 1 --save-every 1"
small_train $auto --batch-tokens auto --memory 30M -o small 2> run.log || fail "$(cat run.log)"
small_train $auto --batch-tokens auto --memory 60M -o large 2> run.log || fail "$(cat run.log)"
[ "$(resolved large)" -gt "$(resolved small)" ] || fail "$(resolved large) and $(resolved small)"
tokens=$(($(resolved small) + 512))
expect_status 2 small_train $auto --batch-tokens $tokens --memory 30M -o more
expect_stderr_contains "--memory 30M cannot hold --batch-tokens $tokens: give --memory"
expect_no_file more

# Too little for any batch: the amount in the message is enough.
expect_status 2 small_train $auto --batch-tokens auto --memory 5M -o more
expect_stderr_contains "--memory 5M cannot hold the longest sentence pair"
enough=$(last_stderr | sed -n 's/.*: give --memory \([0-9]*M\).*/\1/p')
expect_status 0 small_train $auto --batch-tokens auto --memory "$enough" -o more

# --describe without text selects the same batch for the same limit.
described() { # SIZE: the target tokens that it finds
  expect_status 0 tx-train --describe --preset toy --batch-tokens auto --memory "$1" --threads 1
  last_stdout | sed -n 's/.*+ \([0-9,]*\) target) tokens.*/\1/p' | tr -d ,
}
total() { last_stdout | sed -n 's/^  total  *\([0-9]*\).*MiB$/\1/p' | tail -n 1; }
[ "$(described 1G)" -gt "$(described 500M)" ] || fail "$(described 1G) and $(described 500M)"
described 500M > /dev/null
[ "$(total)" -le 500 ] || fail "more than 500 MiB: $(last_stdout)"
[ "$(described 1000G)" -eq 25024 ] || fail "$(described 1000G) tokens with unlimited memory"
expect_status 2 tx-train --describe --preset toy --batch-tokens auto --memory 99999999999G
expect_stderr_contains '--memory 99999999999G: too large'

# --describe computes from shapes and allocates no weights, however large the model.
ulimit -v 1000000
expect_status 0 tx-train --describe --preset big --threads 1
expect_status 0 tx-train --describe --preset base --layers 1000 --d-model 65536 --threads 1
expect_stdout_contains 'encoder.layers.999.ffn.out_proj.weight'
