# A Llama directory of Hugging Face: log P and greedy continuations equal those of the package
# transformers (tests/golden/make_llama.py); round trip; fine-tuning.
folder=$TX_SOURCE/tests/golden/llama
expect_status 0 tx-convert -o m.safetensors "$folder"
expect_empty_stdout
expect_stderr 'tx-convert: wrote m.safetensors, converted from a Llama model'

expect_status 0 tx-decode -m m.safetensors --precision fp32 --perplexity "$folder/prompts"
last_stdout | cut -f 2 > ours
[ "$(wc -l < ours)" -eq 14 ] || fail 'log P of a line is missing'
paste ours "$folder/log_p" | awk '
  { d = $1 - $2; if (d < 0) d = -d; if (d > 1e-5 * -$2) { print "line " NR ": " $0; bad = 1 } }
  END { exit bad }' >&2 || fail 'log P differs from transformers'
continued() { # MODEL; from exactly the tokens of the prompts, as transformers does
  tx-bpe encode -m "$1" "$folder/prompts" > pieces
  expect_status 0 tx-decode -m "$1" --precision fp32 --beam 1 --max-new 12 --echo --pieces pieces
  last_stdout | tx-bpe decode -m "$1" > texts
  expect_same texts "$folder/greedy"
}
continued m.safetensors

# Round trip: bit-identical weights and the same vocabulary.
expect_status 0 tx-convert -q --to llama -o hf m.safetensors
expect_same "$folder/tokenizer.model" hf/tokenizer.model
for line in '"model_type": "llama"' '"num_key_value_heads": 2' '"rms_norm_eps": 1e-05' \
  '"rope_theta": 100.0' '"tie_word_embeddings": false' '"low_freq_factor": 1.0' \
  '"eos_token_id": 2' '"bos_token_id": 1'; do
  grep -qF "$line" hf/config.json || fail "config.json lacks $line"
done
expect_status 0 tx-convert -q -o again.safetensors hf
expect_same m.safetensors again.safetensors
expect_status 0 tx-convert -q --to llama -o hf2 again.safetensors
expect_same hf/model.safetensors hf2/model.safetensors

# Keys of newer versions, and a list of one eos token.
cp -r hf newer
sed -e 's/"rope_scaling": {/"rope_parameters": { "rope_theta": 100.0,/' -e '/^  "rope_theta"/d' \
  -e 's/"eos_token_id": 2/"eos_token_id": [2]/' hf/config.json > newer/config.json
! cmp -s hf/config.json newer/config.json || fail 'nothing was edited'
expect_status 0 tx-convert -q -o newer.safetensors newer
expect_same m.safetensors newer.safetensors
sed -i 's/"rope_type"/"type"/' newer/config.json
expect_status 0 tx-convert -q -o newer2.safetensors newer
expect_same m.safetensors newer2.safetensors

# Fine-tuning keeps the vocabulary and reduces the loss; the result converts to Llama again.
tx-train -q --init m.safetensors --src "$folder/prompts" --steps 20 --batch-tokens 256 \
  --threads 1 -o run
expect_status 0 tx-decode -m run --precision fp32 --perplexity "$folder/prompts"
last_stdout | cut -f 2 | awk '{ s += $1 } END { print s }' > after
awk '{ s += $1 } END { print s }' ours > before
awk -v after="$(cat after)" -v before="$(cat before)" 'BEGIN { exit !(after > before) }' ||
  fail "log P fell in 20 steps: $(cat before) to $(cat after)"
expect_status 0 tx-convert -q --to llama -o tuned run
expect_status 0 tx-convert -q -o tuned.safetensors tuned
expect_status 0 tx-decode -m tuned.safetensors --precision fp32 --perplexity "$folder/prompts"
last_stdout | cut -f 2 | awk '{ s += $1 } END { print s }' > tuned_sum
expect_same after tuned_sum

# A sliding window.
cp -r "$folder" mistral
sed -i -e 's/"model_type": "llama"/"model_type": "mistral", "sliding_window": 3/' \
  -e '/"attention_bias"/d' -e '/"mlp_bias"/d' mistral/config.json
expect_status 0 tx-convert -o mistral.safetensors mistral
expect_stderr 'tx-convert: wrote mistral.safetensors, converted from a Mistral model'
expect_status 0 tx-decode -m mistral.safetensors --precision fp32 --perplexity "$folder/prompts"
last_stdout | cut -f 2 > windowed
! cmp -s ours windowed || fail 'the window changes nothing'
expect_status 0 tx-convert -q --to llama -o mistral_hf mistral.safetensors
grep -qF '"sliding_window": 3' mistral_hf/config.json || fail 'the window is missing'
expect_status 0 tx-convert -q -o mistral2.safetensors mistral_hf
expect_same mistral.safetensors mistral2.safetensors

# A model trained by tx.
. "$TX_SOURCE/tests/cli/small_run.sh"
write_text train 60
tx-bpe train --vocab-size 300 -o bpe.model train.src 2> /dev/null
# Embeddings beyond the vocabulary: added tokens have names.
cp -r "$folder" added
cp bpe.model added/tokenizer.model
rm added/generation_config.json
sed -i 's/"bos_token_id": 1/"bos_token_id": 2/; s/"eos_token_id": 2/"eos_token_id": 3/' added/config.json
printf '{"<tool>": 301, "w1": 302}' > added/added_tokens.json
printf '{"added_tokens_decoder": {"300": {"content": "<call>"}, "x": {"content": "y"}}}' > added/tokenizer_config.json
expect_status 0 tx-convert -q -o added.safetensors added
tx-bpe vocab -m added.safetensors | cut -f 2 | tail -n 20 | head -n 4 > names
printf '%s\n' '<call>' '<tool>' w1 '<row-303>' > wanted
expect_same wanted names

own() { # RUN OPTIONS
  out=$1
  shift
  tx-train -q --kind decoder --src train.src --vocab bpe.model --preset modern --layers 1 \
    --d-model 16 --heads 2 --kv-heads 1 --d-ff 24 --steps 2 --batch-tokens 256 --threads 1 "$@" \
    -o "$out"
}
own modern
expect_status 0 tx-convert --to llama -o own modern
expect_stderr 'tx-convert: wrote own, a directory for Llama of Hugging Face'
expect_same bpe.model own/tokenizer.model
grep -qF '"pad_token_id": 0' own/config.json || fail 'pad is not 0'
# Its embedding is scaled, so the output needs its own matrix.
grep -qF '"tie_word_embeddings": false' own/config.json || fail 'the output is tied to the embedding'
head -n 5 train.src > some
expect_status 0 tx-convert -q -o own.safetensors own
for m in modern own.safetensors; do
  expect_status 0 tx-decode -m $m --precision fp32 --perplexity some
  last_stdout > $m.scores
done
expect_same modern.scores own.safetensors.scores

refused() { # TEXT RUN
  expect_status 1 tx-convert --to llama -o none "$2"
  expect_stderr_contains "cannot be converted to Llama: $1"
  expect_no_file none
}
own gelu --activation gelu
refused 'its feed-forward layers are not gated (--activation gelu)' gelu
own norms --norm-type layer
refused 'it does not use RMSNorm before sub-layers' norms
own residual --no-residual
refused 'it was trained with --no-residual' residual
own bare --norm-type none
refused 'it was trained with --norm-type none' bare
own alibi --positions alibi
refused 'its positions are alibi, not rotary' alibi
