# Broken or hostile Llama directories: one line, status 1, no output.
golden=$TX_SOURCE/tests/golden/llama

. "$TX_SOURCE/tests/cli/broken_folder.sh"

rm f/tokenizer.model
refused 'f has no tokenizer.model, its SentencePiece vocabulary'
mv f/tokenizer.model f/tokenizer.json
refused 'f has no tokenizer.model, only tokenizer.json'
head -c 300 f/tokenizer.model > cut && mv cut f/tokenizer.model
refused 'f/tokenizer.model'
edit config.json 's/"vocab_size": [0-9]*/"vocab_size": 270/'
refused 'f/tokenizer.model has'
edit config.json 's/"vocab_size": [0-9]*/"vocab_size": 999/'
refused 'has shape'
edit config.json 's/"hidden_size": 16/"hidden_size": 18/'
refused 'has shape'
edit config.json 's/"num_hidden_layers": 2/"num_hidden_layers": 3/'
refused 'f has no tensor model.layers.2.'
edit config.json 's/"num_hidden_layers": 2/"num_hidden_layers": 1/'
refused 'which belongs to a component that is not supported'
edit config.json 's/"num_attention_heads": 4/"num_attention_heads": 0/'
refused 'num_attention_heads is 0'
edit config.json 's/"num_key_value_heads": 2/"num_key_value_heads": 3/'
refused '--kv-heads 3 does not divide --heads 4'
edit config.json 's/"head_dim": 4/"head_dim": 3/'
refused '--d-k 3 must be even'
edit config.json 's/"silu"/"relu"/'
refused 'hidden_act is "relu", which is not supported in gated layers'
edit config.json 's/"attention_bias": false/"attention_bias": true/'
refused 'f has no tensor model.layers.0.self_attn.q_proj.bias'
edit config.json 's/"rope_type": "llama3"/"rope_type": "yarn"/'
refused 'rope_type "yarn" is not supported; linear and llama3 are'
edit config.json '/"low_freq_factor"/d'
refused 'low_freq_factor is missing'
edit config.json 's/"factor": 8.0/"factor": "8"/'
refused 'factor must be a number'
rm f/generation_config.json
edit config.json 's/"eos_token_id": 2/"eos_token_id": 1/'
refused 'bos must differ from pad, unk and eos'
edit config.json 's/"bos_token_id": 1/"bos_token_id": 99999/'
refused 'the id of the decoder'"'"'s start token is 99999, but there are'
echo '{"add_bos_token": false}' > f/tokenizer_config.json
refused 'add_bos_token is false; only true is supported'
head -c 20000 f/model.safetensors > cut && mv cut f/model.safetensors
refused 'f/model.safetensors is truncated'

# Shards.
mv f/model.safetensors f/a.safetensors
printf '{"weight_map": {"lm_head.weight": "a.safetensors", "x": "b.safetensors"}}' \
  > f/model.safetensors.index.json
refused 'f/b.safetensors is missing'

# A missing output matrix is an error unless it is tied to the embedding.
sed 's/lm_head\.weight/lm_hood.weight/' f/model.safetensors > edited && mv edited f/model.safetensors
refused 'f has no lm_head.weight, but tie_word_embeddings in config.json is false'

# A pickle that would run code.
rm f/model.safetensors
printf '\200\002cos\nsystem\n(X\014\000\000\000touch hackedtR.' > f/pytorch_model.bin
refused 'its pickle refers to "os.system", which tensors do not need'
expect_no_file hacked
expect_status 0 tx-convert -q -o out f
