# Averages of files: independent of their order and of the output's name, trainable, and in the
# precision of --to.
. "$TX_SOURCE/tests/cli/small_run.sh"
write_text train 60
train_small run

expect_status 0 tx-avg -o mean run/model-2.safetensors run/model-3.safetensors
expect_empty_stdout
expect_stderr <<'EOF'
tx-avg: averaged run/model-2.safetensors
tx-avg: averaged run/model-3.safetensors
EOF
expect_file mean
[ "$(wc -c < mean)" -gt "$(wc -c < run/model-2.safetensors)" ] || fail "no provenance was added"
for part in '"command\":\"tx-avg run/model-2.safetensors run/model-3.safetensors\"' \
  '\"file\":\"run/model-2.safetensors\"' '\"step\":2' '\"step\":3' '"xxh3":' 'tx-words 1'; do
  grep -aqF -e "$part" mean || fail "the model lacks $part"
done

# The same command elsewhere gives the same bytes; an output that is an input is an error.
expect_status 0 tx-avg -q -o - run/model-2.safetensors run/model-3.safetensors
expect_empty_stderr
expect_stdout_file mean
cp run/model-2.safetensors 2.safetensors
cp run/model-3.safetensors 3.safetensors
expect_status 0 tx-avg -q -o mean2 2.safetensors 3.safetensors
expect_status 2 tx-avg -q -o 2.safetensors 2.safetensors 3.safetensors
expect_stderr_contains '--out 2.safetensors is also an input: choose another name'
expect_same 2.safetensors run/model-2.safetensors
expect_status 2 tx-avg -q --last 2 -o run/last.safetensors run
expect_stderr_contains '--out run/last.safetensors belongs to the run directory run'

# Through a symbolic link its target is written, also if it does not exist yet.
mkdir elsewhere
ln -s elsewhere/mean linked
for step in 2 3; do
  expect_status 0 tx-avg -q -o linked run/model-$step.safetensors run/model-4.safetensors
  [ "$(readlink linked)" = elsewhere/mean ] || fail 'the link is gone'
  tx-avg -q -o - run/model-$step.safetensors run/model-4.safetensors > unlinked
  expect_same unlinked elsewhere/mean
done

# The average has the vocabulary and can be trained further.
expect_status 0 tx-avg -q -o mean3 mean run/model-4.safetensors
expect_status 0 tx-train --quiet --init mean3 --src train.src --tgt train.tgt --schedule constant \
  --lr 0.001 --warmup 0 --batch-tokens 448 --steps 2 --save-every 1 --threads 1 -o further
expect_file further/last.safetensors

# The same weights twice give a warning.
expect_status 0 tx-avg -q -o twice run/model-4.safetensors run/last.safetensors
expect_stderr_contains 'warning: run/last.safetensors holds the same weights as run/model-4'
expect_status 0 tx-avg -q -o twice $(yes run/model-4.safetensors | head -n 40) run/model-3.safetensors
expect_stderr_contains 'only 2 of the 41 models are distinct'
[ "$(wc -l < "$TX_LAST/stderr")" -eq 1 ] || fail "$(last_stderr)"

# A run directory means its best model, or its last without validation.
expect_status 0 tx-avg -o last run
expect_stderr 'tx-avg: averaged run/last.safetensors'

# --to: the precision of the weights in the file.
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
expect_stderr 'tx-avg: int8 holds 8-bit weights, which cannot be averaged; give the model that it was made from'
expect_usage_error '--to' tx-avg --to fp16 -o none run
expect_no_file none
