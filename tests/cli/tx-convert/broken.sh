# Broken or hostile directories: one line, status 1, no output.
golden=$TX_SOURCE/tests/golden/marian
. "$TX_SOURCE/tests/cli/broken_folder.sh"
broken <<'END'
rm f/config.json => has no config.json
echo '[]' > f/config.json => f/config.json is not a JSON object
edit config.json 's/"marian"/"llava"/' => model_type "llava" is not supported
rm f/model.safetensors => f has no weights: neither model.safetensors nor pytorch_model.bin
edit config.json 's/"d_model": 16/"d_model": 18/' => has shape
edit config.json 's/"encoder_layers": 1/"encoder_layers": 2/' => f has no tensor model.encoder.layers.1.
edit config.json 's/"decoder_layers": 2/"decoder_layers": 1/' => which belongs to a component that is not supported
edit config.json 's/"encoder_layers": 1/"encoder_layers": 100000/' => encoder_layers is not a whole number from 0 to 1,000
edit config.json 's/"swish"/"mish"/' => activation_function is "mish", which is not supported
edit config.json 's/"encoder_attention_heads": 2/"encoder_attention_heads": 4/' => encoder_attention_heads and decoder_attention_heads differ
edit config.json 's/"pad_token_id": [0-9]*/"pad_token_id": 999/' => the id of pad is 999, but there are
edit config.json 's/{/{ "tie_word_embeddings": false,/' => f has no lm_head.weight, but tie_word_embeddings in config.json is false
edit config.json 's/{/{ "normalize_before": true,/' => normalize_before is true; only false is supported
edit generation_config.json 's/^      32/      1, 32/' => bad_words_ids must be lists of one id each
edit vocab.json 's/, "<pad>": [0-9]*//' => f/vocab.json has
edit vocab.json 's/"<unk>": 1/"<unk>": 2/' => must have an id of its own
edit vocab.json 's/"<unk>"/"<unknown>"/' => f/vocab.json has no token <unk>
rm f/source.spm => cannot read f/source.spm
shorten target.spm 300 => f/target.spm
shorten model.safetensors 20000 => f/model.safetensors is truncated
shards '"final_logits_bias": "a.safetensors", "x": "b.safetensors"' => f/b.safetensors is missing
shards '"x": "a.safetensors"' => f/a.safetensors has no tensor "x"
shards '"x": "../a.safetensors"' => the file of "x" is not a file name
rm f/model.safetensors && mkfifo f/pytorch_model.bin => f/pytorch_model.bin: is a pipe or a device
rm f/model.safetensors; hostile pytorch_model.bin => its pickle refers to "os.system", which tensors do not need
rm f/model.safetensors; echo 'version https://git-lfs.github.com/spec/v1' > f/pytorch_model.bin => is not a file of torch.save()
END
shards '"final_logits_bias": "a.safetensors"'
expect_status 0 tx-convert -q -o whole f
restore

# Files that are not regular are errors and never opened: nobody writes to these pipes.
for name in config.json vocab.json source.spm target.spm model.safetensors; do
  rm "f/$name" && mkfifo "f/$name"
  refused "f/$name: is a pipe or a device; this input must be a regular file"
  ln -sf /dev/zero "f/$name"
  refused "f/$name: is a pipe or a device; this input must be a regular file"
  rm "f/$name" && mkdir "f/$name"
  refused "cannot read f/$name: Is a directory"
done

expect_status 0 tx-convert -q -o out f
echo text > text
expect_usage_error '--out text exists and is not a model' tx-convert -o text f
expect_usage_error 'is not a tx model: convert it to one first' tx-convert --to ctranslate2 -o x f
expect_usage_error 'out is a tx model: give --to' tx-convert -o x out
expect_no_file x
rm out

golden=$TX_SOURCE/tests/golden/llama
restore
broken <<'END'
rm f/tokenizer.model f/tokenizer.json => f has no vocabulary: neither tokenizer.model nor tokenizer.json
mv f/tokenizer.model f/tokenizer.json => f/tokenizer.json: not valid JSON
shorten tokenizer.model 300 => f/tokenizer.model
edit config.json 's/"vocab_size": [0-9]*/"vocab_size": 270/' => f/tokenizer.model has
edit config.json 's/"vocab_size": [0-9]*/"vocab_size": 999/' => has shape
edit config.json 's/"hidden_size": 16/"hidden_size": 18/' => has shape
edit config.json 's/"num_hidden_layers": 2/"num_hidden_layers": 3/' => f has no tensor model.layers.2.
edit config.json 's/"num_hidden_layers": 2/"num_hidden_layers": 1/' => which belongs to a component that is not supported
edit config.json 's/"num_attention_heads": 4/"num_attention_heads": 0/' => num_attention_heads is 0
edit config.json 's/"num_key_value_heads": 2/"num_key_value_heads": 3/' => --kv-heads 3 does not divide --heads 4
edit config.json 's/"head_dim": 4/"head_dim": 3/' => --d-k 3 must be even
edit config.json 's/"silu"/"relu"/' => hidden_act is "relu", which is not supported in gated layers
edit config.json 's/"attention_bias": false/"attention_bias": true/' => f has no tensor model.layers.0.self_attn.q_proj.bias
edit config.json 's/"rope_type": "llama3"/"rope_type": "yarn"/' => rope_type "yarn" is not supported; linear and llama3 are
edit config.json '/"low_freq_factor"/d' => low_freq_factor is missing
edit config.json 's/"factor": 8.0/"factor": "8"/' => factor must be a number
rm f/generation_config.json; edit config.json 's/"eos_token_id": 2/"eos_token_id": 1/' => bos must differ from pad, unk and eos
edit config.json 's/"bos_token_id": 1/"bos_token_id": 99999/' => the id of the decoder's start token is 99999, but there are
echo '{"add_bos_token": false}' > f/tokenizer_config.json => add_bos_token is false; only true is supported
shorten model.safetensors 20000 => f/model.safetensors is truncated
shards '"lm_head.weight": "a.safetensors", "x": "b.safetensors"' => f/b.safetensors is missing
sed 's/lm_head\.weight/lm_hood.weight/' f/model.safetensors > edited && mv edited f/model.safetensors => f has no lm_head.weight, but tie_word_embeddings in config.json is false
rm f/model.safetensors; hostile pytorch_model.bin => its pickle refers to "os.system", which tensors do not need
END
expect_status 0 tx-convert -q -o llama f

golden=$TX_SOURCE/tests/golden/nllb
restore
broken <<'END'
edit config.json 's/"vocab_size": [0-9]*/"vocab_size": 20/' => but vocab_size in f/config.json is 20
edit config.json 's/"vocab_size": [0-9]*/"vocab_size": 35/' => have ids up to
edit config.json 's/"vocab_size": [0-9]*/"vocab_size": 100/' => has shape
edit config.json 's/{/{ "tie_word_embeddings": false,/' => f has no lm_head.weight, but tie_word_embeddings in config.json is false
edit config.json 's/"eos_token_id": 2/"eos_token_id": 1/' => eos_token_id is 2, without the token that ends sources, 1 in config.json
rm f/generation_config.json; edit config.json 's/"eos_token_id": 2/"eos_token_id": 1/' => pad, unk and eos must be three different tokens
rm f/generation_config.json; edit config.json 's/"decoder_start_token_id": 2/"decoder_start_token_id": 200/' => the id of the decoder's start token is 200, but there are
edit config.json 's/"decoder_layers": 2/"decoder_layers": 3/' => f has no tensor model.decoder.layers.2.
edit config.json 's/"d_model": 16/"d_model": 8/' => has shape
edit tokenizer_config.json 's/"src_lang": "eng_Latn"/"src_lang": "xxx_Latn"/' => the language "xxx_Latn" is not in the vocabulary
edit tokenizer_config.json 's/"NllbTokenizer"/"SMALL100Tokenizer"/' => tokenizer_class "SMALL100Tokenizer" is not supported
edit tokenizer_config.json 's/"content": "deu_Latn"/"content": "eng_Latn"/' => the token "eng_Latn" has two ids
edit tokenizer_config.json 's/"34": {/"x": {/' => added_tokens_decoder is malformed
rm f/added_tokens.json f/special_tokens_map.json f/tokenizer.json; echo '{"tokenizer_class": "NllbTokenizer"}' > f/tokenizer_config.json => f has no languages
rm f/sentencepiece.bpe.model f/tokenizer.json => cannot read f/sentencepiece.bpe.model
mv f/sentencepiece.bpe.model f/tokenizer.json => f/tokenizer.json: not valid JSON
edit generation_config.json 's/{/{"forced_bos_token_id": 4,/' => forced_bos_token_id 4 is not a language
cp "$TX_SOURCE/tests/golden/m2m100/vocab.json" f/vocab.json; edit tokenizer_config.json 's/"NllbTokenizer"/"M2M100Tokenizer"/'; edit config.json 's/"vocab_size": [0-9]*/"vocab_size": 30/' => f/vocab.json and the tokenizer's files have ids up to
END

# Any of these files may name the languages.
expect_status 0 tx-convert -q -o wanted f
echo '{"tokenizer_class": "NllbTokenizer", "src_lang": "eng_Latn"}' > f/tokenizer_config.json
expect_status 0 tx-convert -q -o by_added f
expect_same wanted by_added
sed 's/^/{"added_tokens": [/; s/$/]}/' > f/tokenizer.json << 'END'
{"id": 33, "content": "<mask>"}, {"id": 34, "content": "eng_Latn"}, {"id": 35, "content": "deu_Latn"}, {"id": 36, "content": "ace_Arab"}
END
rm f/added_tokens.json
expect_status 0 tx-convert -q -o by_tokenizer f
expect_same wanted by_tokenizer
rm f/tokenizer.json
echo '{"additional_special_tokens": ["<mask>", "eng_Latn", {"content": "deu_Latn"}, "ace_Arab"]}' > f/special_tokens_map.json
expect_status 0 tx-convert -q -o by_list f
expect_same wanted by_list

golden=$TX_SOURCE/tests/golden/m2m100
restore
broken <<'END'
edit vocab.json 's/"<unk>": 3/"<unk>": 4/' => must have an id of its own
edit vocab.json 's/"<unk>"/"<unknown>"/' => f/vocab.json has no token <unk>
edit tokenizer_config.json 's/"wmt21"/"xyz"/' => language_codes "xyz" is not supported; m2m100 and wmt21 are
edit tokenizer_config.json 's/"wmt21"/"m2m100"/' => have ids up to
rm f/model.safetensors => f has no weights: neither model.safetensors nor pytorch_model.bin
END
