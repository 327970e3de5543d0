# Broken or hostile directories: one line, status 1, no output.
golden=$TX_SOURCE/tests/golden/marian

. "$TX_SOURCE/tests/cli/broken_folder.sh"

rm f/config.json
refused 'has no config.json'
echo '[]' > f/config.json
refused 'f/config.json is not a JSON object'
edit config.json 's/"marian"/"llava"/'
refused 'model_type "llava" is not supported'
rm f/model.safetensors
refused 'f has no weights: neither model.safetensors nor pytorch_model.bin'
edit config.json 's/"d_model": 16/"d_model": 18/'
refused 'has shape'
edit config.json 's/"encoder_layers": 1/"encoder_layers": 2/'
refused 'f has no tensor model.encoder.layers.1.'
edit config.json 's/"decoder_layers": 2/"decoder_layers": 1/'
refused 'which belongs to a component that is not supported'
edit config.json 's/"encoder_layers": 1/"encoder_layers": 100000/'
refused 'encoder_layers is not a whole number from 0 to 1,000'
edit config.json 's/"swish"/"mish"/'
refused 'activation_function is "mish", which is not supported'
edit config.json 's/"encoder_attention_heads": 2/"encoder_attention_heads": 4/'
refused 'encoder_attention_heads and decoder_attention_heads differ'
edit config.json 's/"pad_token_id": [0-9]*/"pad_token_id": 999/'
refused 'the id of pad is 999, but there are'
edit config.json 's/{/{ "tie_word_embeddings": false,/'
refused 'f has no lm_head.weight, but tie_word_embeddings in config.json is false'
edit config.json 's/{/{ "normalize_before": true,/'
refused 'normalize_before is true; only false is supported'
edit generation_config.json 's/^      32/      1, 32/'
refused 'bad_words_ids must be lists of one id each'
edit vocab.json 's/, "<pad>": [0-9]*//'
refused 'f/vocab.json has'
edit vocab.json 's/"<unk>": 1/"<unk>": 2/'
refused 'must have an id of its own'
edit vocab.json 's/"<unk>"/"<unknown>"/'
refused 'f/vocab.json has no token <unk>'
rm f/source.spm
refused 'cannot read f/source.spm'
head -c 300 f/target.spm > cut && mv cut f/target.spm
refused 'f/target.spm'
head -c 20000 f/model.safetensors > cut && mv cut f/model.safetensors
refused 'f/model.safetensors is truncated'

# Shards.
mv f/model.safetensors f/a.safetensors
printf '{"weight_map": {"final_logits_bias": "a.safetensors", "x": "b.safetensors"}}' \
  > f/model.safetensors.index.json
refused 'f/b.safetensors is missing'
mv f/model.safetensors f/a.safetensors
printf '{"weight_map": {"x": "a.safetensors"}}' > f/model.safetensors.index.json
refused 'f/a.safetensors has no tensor "x"'
mv f/model.safetensors f/a.safetensors
printf '{"weight_map": {"x": "../a.safetensors"}}' > f/model.safetensors.index.json
refused 'the file of "x" is not a file name'
mv f/model.safetensors f/a.safetensors
printf '{"weight_map": {"final_logits_bias": "a.safetensors"}}' > f/model.safetensors.index.json
expect_status 0 tx-convert -q -o whole f
rm -rf f
cp -r "$golden" f

# Files that are not regular are errors and never opened: nobody writes to these pipes.
for name in config.json vocab.json source.spm target.spm model.safetensors; do
  rm "f/$name" && mkfifo "f/$name"
  refused "f/$name: is a pipe or a device; this input must be a regular file"
  ln -sf /dev/zero "f/$name"
  refused "f/$name: is a pipe or a device; this input must be a regular file"
  rm "f/$name" && mkdir "f/$name"
  refused "cannot read f/$name: Is a directory"
done
rm f/model.safetensors && mkfifo f/pytorch_model.bin
refused 'f/pytorch_model.bin: is a pipe or a device'

# A pickle that would run code.
rm f/model.safetensors
printf '\200\002cos\nsystem\n(X\014\000\000\000touch hackedtR.' > f/pytorch_model.bin
refused 'its pickle refers to "os.system", which tensors do not need'
expect_no_file hacked
rm f/model.safetensors
echo 'version https://git-lfs.github.com/spec/v1' > f/pytorch_model.bin
refused 'is not a file of torch.save()'

expect_status 0 tx-convert -q -o out f
echo text > text
expect_usage_error '--out text exists and is not a model' tx-convert -o text f
expect_usage_error 'is not a tx model: convert it to one first' \
  tx-convert --to ctranslate2 -o x f
expect_usage_error 'out is a tx model: give --to' tx-convert -o x out
expect_no_file x
