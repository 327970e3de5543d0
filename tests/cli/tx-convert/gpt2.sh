# A GPT-2 directory of Hugging Face: log P and greedy continuations equal those of the package
# transformers (tests/golden/make_gpt2.py); fine-tuning; broken directories.
golden=$TX_SOURCE/tests/golden/gpt2
expect_status 0 tx-convert -o m.safetensors "$golden"
expect_empty_stdout
expect_stderr 'tx-convert: wrote m.safetensors, converted from a GPT-2 model'
expect_status 0 tx-decode -m m.safetensors --precision fp32 --perplexity "$golden/prompts"
last_stdout | cut -f 2 > ours
[ "$(wc -l < ours)" -eq 14 ] || fail 'log P of a line is missing'
paste ours "$golden/log_p" | awk '
  { d = $1 - $2; if (d < 0) d = -d; if (d > 1e-5 * -$2) { print "line " NR ": " $0; bad = 1 } }
  END { exit bad }' >&2 || fail 'log P differs from transformers'
expect_status 0 tx-decode -m m.safetensors --precision fp32 --beam 1 --max-new 12 \
  "$golden/prompts"
last_stdout | sed 's/^ //' > continued
expect_same continued "$golden/greedy"

# Fine-tuning keeps the vocabulary and reduces the loss.
tx-train -q --init m.safetensors --src "$golden/prompts" --steps 20 --batch-tokens 256 \
  --threads 1 -o run
expect_status 0 tx-decode -m run --precision fp32 --perplexity "$golden/prompts"
last_stdout | cut -f 2 | awk '{ s += $1 } END { print s }' > after
awk '{ s += $1 } END { print s }' ours > before
awk -v after="$(cat after)" -v before="$(cat before)" 'BEGIN { exit !(after > before) }' ||
  fail "log P fell in 20 steps: $(cat before) to $(cat after)"

. "$TX_SOURCE/tests/cli/broken_folder.sh"
broken <<'END'
rm f/vocab.json => cannot read f/vocab.json
edit config.json 's/"vocab_size": [0-9]*/"vocab_size": 5/' => f/vocab.json has
edit config.json 's/"vocab_size": [0-9]*/"vocab_size": 99/' => has shape
edit generation_config.json 's/"eos_token_id": [0-9]*/"eos_token_id": [19, 3]/' => eos_token_id lists several tokens, which is not supported for this family
rm f/generation_config.json; edit config.json 's/"eos_token_id": [0-9]*/"eos_token_id": 99/' => eos_token_id is 99, outside the
edit config.json 's/"n_embd": 16/"n_embd": 24/' => expected at least 72 columns
edit config.json 's/"n_embd": 16/"n_embd": 8/' => has shape
edit config.json 's/"n_layer": 2/"n_layer": 3/' => f has no tensor transformer.h.2.
edit config.json 's/"n_layer": 2/"n_layer": 1/' => which belongs to a component that is not supported
edit config.json 's/"n_inner": 24/"n_inner": 25/' => has shape
edit config.json 's/"gelu_new"/"tanh"/' => activation_function is "tanh", which is not supported
edit config.json 's/"scale_attn_by_inverse_layer_idx": false/"scale_attn_by_inverse_layer_idx": true/' => scale_attn_by_inverse_layer_idx is true; only false is supported
END
expect_status 0 tx-convert -q -o out f
