# --to ctranslate2: the directory, reproducible bytes, unsupported models.
. "$TX_SOURCE/tests/cli/small_run.sh"
write_text train 60
tx-bpe train --vocab-size 300 -o bpe.model train.src train.tgt 2> /dev/null
train_small run --vocab bpe.model
expect_status 0 tx-convert --to ctranslate2 -o ct2 run
expect_empty_stdout
expect_stderr 'tx-convert: wrote ct2, a directory for CTranslate2'
expect_same ct2/sentencepiece.model bpe.model
[ "$(head -c 22 ct2/model.bin | tail -c 16)" = TransformerSpec ] ||
  fail 'model.bin has a wrong header'
tx-bpe vocab -m bpe.model | cut -f 2 > wanted
sed -n 's/^  "\(.*\)",*$/\1/p' ct2/shared_vocabulary.json | sed 's/\\\(["\\]\)/\1/g' > pieces
expect_same wanted pieces
expect_status 0 tx-convert -q --to ctranslate2 -o again run/last.safetensors
expect_empty_stderr
for file in model.bin config.json shared_vocabulary.json; do expect_same ct2/$file again/$file; done
expect_status 0 tx-convert -q --to ctranslate2 --max-positions 10 -o short run
[ "$(wc -c < short/model.bin)" -eq $(($(wc -c < again/model.bin) - 1014 * 16 * 4)) ] ||
  fail 'ten positions have another size'

expect_usage_error '--out ct2 already exists' tx-convert --to ctranslate2 -o ct2 run
expect_usage_error 'standard output' tx-convert --to ctranslate2 -o - run
expect_usage_error '--to' tx-convert -o x run
tx-avg -q --to int8 -o int8.safetensors run
expect_status 1 tx-convert --to ctranslate2 -o x int8.safetensors
expect_stderr_contains '8-bit weights'
train_small wide --vocab bpe.model --d-k 4
expect_status 1 tx-convert --to ctranslate2 -o x wide
expect_stderr_contains "cannot be converted to CTranslate2: d_k or d_v differs from d_model / heads"
for block in "--no-causal-mask/it was trained with --no-causal-mask" \
  "--no-residual/it was trained with --no-residual" \
  "--norm-type none/it was trained with --norm-type none" "--head-norm/it was trained with --head-norm" \
  "--window 3/it uses sliding-window attention" "--positions alibi/its positions are alibi" \
  "--positions rotary --rotary-scaling ntk --rotary-factor 2/its rotary positions are scaled"; do
  rm -rf later
  # shellcheck disable=SC2086  # options and their values
  train_small later --vocab bpe.model ${block%%/*}
  expect_status 1 tx-convert --to ctranslate2 -o x later
  expect_stderr_contains "cannot be converted to CTranslate2: ${block#*/}"
done
train_small other --vocab bpe.model --activation silu --positions halves --output-bias
expect_status 0 tx-convert -q --to ctranslate2 -o other_ct2 other
grep -qa decoder/projection/bias other_ct2/model.bin || fail 'the output bias is missing'
! grep -qa decoder/projection/bias ct2/model.bin || fail 'an output bias that the model lacks'
train_small modern --vocab bpe.model --norm-type rms --positions rotary --activation swiglu --kv-heads 1
expect_status 0 tx-convert -q --to ctranslate2 -o modern_ct2 modern
grep -qa ffn/linear_0_noact/weight modern_ct2/model.bin || fail 'the gate is missing'
expect_status 1 tx-convert --to ctranslate2 -o x/y run
expect_stderr_contains 'cannot write x/y: No such file'
expect_no_file x
ls -A > files
expect_status 1 grep tmp files
