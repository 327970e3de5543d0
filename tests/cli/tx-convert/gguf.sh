# Qwen 2 and 3 of Hugging Face, and GGUF files of the architectures qwen3 and llama: log P and greedy
# continuations equal those of the package transformers (tests/golden/make_gguf.py).
golden=$TX_SOURCE/tests/golden
equal() { # MODEL FOLDER
  cut -f 1 "$2/prompts" > some
  cut -f 2 "$2/prompts" > more
  expect_status 0 tx-decode -m "$1" --precision fp32 --tgt more --json some
  last_stdout | sed 's/.*"log_p": *\([-0-9.e]*\).*/\1/' | paste - "$2/log_p" | awk '
    { d = $1 - $2; if (d < 0) d = -d; if (NF < 2 || d > 1e-5 * -$2) { print "line " NR ": " $0; bad = 1 } }
    END { exit bad || NR < 13 }' >&2 || fail "log P of $1 differs from transformers"
  expect_status 0 tx-decode -m "$1" --precision fp32 --beam 1 --max-new 12 some
  last_stdout | sed 's/^ //' > continued
  sed 's/^ //' "$2/greedy" > wanted
  expect_same wanted continued
}
for name in qwen2 qwen3; do
  expect_status 0 tx-convert -o $name.safetensors "$golden/$name"
  expect_stderr "tx-convert: wrote $name.safetensors, converted from a Qwen ${name#qwen} model"
  equal $name.safetensors "$golden/$name"
done

expect_status 0 tx-convert -o gguf.safetensors "$golden/gguf/qwen3.gguf"
expect_stderr 'tx-convert: wrote gguf.safetensors, converted from a Qwen 3 model'
cp "$golden/gguf/qwen3.gguf" sha256-1234
expect_status 0 tx-convert -q -o blob.safetensors sha256-1234
cmp gguf.safetensors blob.safetensors || fail 'a GGUF file of another name gives another model'
# The file has half precision in feed-forward layers.
expect_status 0 tx-decode -m gguf.safetensors --precision fp32 --beam 1 --max-new 12 some
last_stdout | sed 's/^ //' > continued
expect_same wanted continued
expect_status 0 tx-decode -m gguf.safetensors --describe
expect_stdout_contains 'q_norm.weight'

expect_status 0 tx-convert -o llama.safetensors "$golden/gguf/llama.gguf"
equal llama.safetensors "$golden/gguf"

expect_status 1 tx-convert --to llama -o hf qwen3.safetensors
expect_stderr_contains '--head-norm'

# Text gives special tokens of the vocabulary.
echo '<|x|> ab<|end|>' | tx-bpe encode -m qwen3.safetensors > pieces
[ "$(cut -d ' ' -f 1 pieces)" = '<|x|>' ] || fail "<|x|> became $(cat pieces)"

golden=$golden/qwen3
. "$TX_SOURCE/tests/cli/broken_folder.sh"
broken <<'END'
edit config.json 's/"use_sliding_window": false/"use_sliding_window": true/' => use_sliding_window is true; only false is supported
edit config.json 's/"full_attention"/"sliding_attention"/' => its layer_types are not all full_attention
edit config.json 's/"head_dim": 6/"head_dim": 8/' => has shape
edit config.json 's/"model_type": "qwen3"/"model_type": "gemma"/' => model_type "gemma" is not supported
rm f/tokenizer.json => f has no vocabulary: neither tokenizer.model nor tokenizer.json
END

# Damaged files: an error, never a signal.
for size in 3 24 200 5000 40000; do
  head -c $size "$TX_SOURCE/tests/golden/gguf/llama.gguf" > cut.gguf
  expect_status 1 tx-convert -o x cut.gguf
  expect_stderr_contains 'cut.gguf'
done
patched() { # SED-EXPRESSION MESSAGE
  LC_ALL=C sed "$1" "$TX_SOURCE/tests/golden/gguf/qwen3.gguf" > patched.gguf
  expect_status 1 tx-convert -o x patched.gguf
  expect_stderr_contains "$2"
}
patched 's/qwen3/gemma/' 'general.architecture is "gemma"; llama, qwen2 and qwen3 are supported'
patched 's/qwen2/qwen9/' 'tokenizer.ggml.pre is "qwen9"'
patched 's/\(attention.value_length\x04\x00\x00\x00\)\x06/\1\x03/' \
  'qwen3.attention.value_length is not the width of a head, 6'
