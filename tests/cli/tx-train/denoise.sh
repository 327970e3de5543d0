# --denoise: which spans are masked does not depend on batches or on resuming, and validation
# always masks the same ones.
. "$TX_SOURCE/tests/cli/train.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
small_text
small_texts="--denoise --src train.en --valid-src valid.en"
whole_run --precision fp32 --threads 1 --context 9
stop_at rename:1 model:2
random_kills 2 7
rm -rf whole

same_masks --denoise
for precision in fp32 bf16; do
  recomputed --precision $precision --layers 2 --dropout 0.1 || continue # no bf16 here
done

# It learns to restore the word of lines that repeat it.
awk '{ line = $1; for (i = NR % 5; i < 9; ++i) line = line " " $1; print line }' train.en > repeated
small_texts="--denoise --src repeated --valid-src repeated"
small_train --vocab words --steps 200 --save-every 200 --warmup 20 --lr 0.01 --dropout 0 -o learned 2> run.log ||
  fail "$(cat run.log)"
grep -o '"validation_accuracy":[0-9.]*' learned/log.jsonl | cut -d : -f 2 |
  awk '{ exit !($1 > 0.8) }' || fail "$(grep validation_accuracy learned/log.jsonl)"
echo 'six six six <extra_id_0> six six six' > masked
expect_status 0 tx-decode -m learned masked
expect_stdout_contains '<extra_id_0> six'
expect_status 0 tx-decode -m learned --check-invariance masked
grep -q bits_per_byte learned/log.jsonl && fail 'bits per byte, although not all tokens are predicted'

expect_status 0 tx-train --denoise --vocab bpe.model --preset toy --describe
expect_stdout_contains 'encoder.layers.0.self_attn'
# The model can be fine-tuned to translate; a model without sentinels cannot be trained by
# --denoise.
expect_status 0 tx-train --init learned --src train.en --tgt train.de --schedule constant --lr 0.001 \
  --steps 2 --batch-tokens 200 --threads 1 -o translating
small_texts="--src train.en --tgt train.de"
small_train --steps 1 -o plain 2> run.log || fail "$(cat run.log)"
expect_usage_error 'which --init plain lacks' \
  tx-train --init plain --denoise --src train.en -o none

small_texts="--denoise --src train.en"
refused '--tgt cannot be used with --denoise: it trains on one text' --tgt train.de
refused '--denoise cannot be used with --kind decoder: it needs an encoder and a decoder' --kind decoder
refused '--denoise cannot be used with --bpe-dropout' --bpe-dropout 0.1
refused '--valid-metric bleu cannot be used with --denoise' --valid-src valid.en --valid-metric bleu
refused '--guided-alignment cannot be used with --denoise' --guided-alignment links
