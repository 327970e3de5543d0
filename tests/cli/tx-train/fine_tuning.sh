# --init without --preset selects fine-tuning settings by the size of the text and the width of
# the model. The model learns to copy.
. "$TX_SOURCE/tests/cli/train.sh"
small_text

expect_status 0 tx-train -q --preset toy --src train.en --tgt train.de --vocab bpe.model --threads 1 --steps 100 -o first
tune="--src train.en --tgt train.en --valid-src valid.en --valid-tgt valid.en --threads 1"
expect_status 0 tx-train --init first $tune -o tuned
expect_stderr_contains "tx-train: fine-tuning first with adam: batches of 1024 target tokens, schedule linear, rate 0.001, "
expect_stderr_contains " epochs of the text's "
expect_stderr_contains "validations without improvement (--patience); override with options or --preset"
expect_status 0 tx-train --init first $tune --lr 1e-12 --steps 1 -o before
best() { # RUN: the lowest loss of its validations
  sed -n 's/.*"validation_loss":\([0-9.]*\).*/\1/p' "$1/log.jsonl" | sort -g | head -n 1
}
awk "BEGIN { exit !($(best tuned) < $(best before) - 1) }" ||
  fail "the loss goes from $(best before) to $(best tuned)"
[ "$(setting tuned preset) $(setting tuned d-model)" = "fine-tune 64" ] ||
  fail "$(cat tuned/config.json)"
expect_status 0 tx-train --init first $tune --epochs 2 --batch-tokens 800 --save-every 2 -o short
expect_stderr_contains "batches of 800 target tokens"
expect_stderr_contains " steps, 2 epochs of the text's "
expect_status 0 tx-train --resume short
expect_status 0 tx-train --init first $tune --preset toy --steps 1 -o toys
expect_stderr_lacks "fine-tuning"

# An option may repeat a setting of the model, but not change it.
expect_status 0 tx-train --init first $tune --steps 1 --heads 4 --kv-heads 4 --ffn-bias -o same
for option in "--norm-position post/pre" "--window 3/0" "--kv-heads 2/4"; do
  # shellcheck disable=SC2086
  expect_usage_error "${option%/*} contradicts the model of --init first, which has ${option#*/}: leave it out" \
    tx-train --init first $tune --steps 1 ${option%/*} -o other
done
expect_usage_error '--ffn-bias false contradicts the model of --init first, which has true' \
  tx-train --init first $tune --steps 1 --no-ffn-bias -o other
