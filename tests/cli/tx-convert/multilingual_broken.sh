# Broken NLLB and M2M-100 directories: one line, status 1, no output.
golden=$TX_SOURCE/tests/golden/nllb
. "$TX_SOURCE/tests/cli/broken_folder.sh"

edit config.json 's/"vocab_size": [0-9]*/"vocab_size": 20/'
refused 'but vocab_size in f/config.json is 20'
edit config.json 's/"vocab_size": [0-9]*/"vocab_size": 35/'
refused 'have ids up to'
edit config.json 's/"vocab_size": [0-9]*/"vocab_size": 100/'
refused 'has shape'
edit config.json 's/{/{ "tie_word_embeddings": false,/'
refused 'f has no lm_head.weight, but tie_word_embeddings in config.json is false'
edit config.json 's/"eos_token_id": 2/"eos_token_id": 1/'
refused 'eos_token_id is 2, without the token that ends sources, 1 in config.json'
rm f/generation_config.json
edit config.json 's/"eos_token_id": 2/"eos_token_id": 1/'
refused 'pad, unk and eos must be three different tokens'
rm f/generation_config.json
edit config.json 's/"decoder_start_token_id": 2/"decoder_start_token_id": 200/'
refused 'the id of the decoder'"'"'s start token is 200, but there are'
edit config.json 's/"decoder_layers": 2/"decoder_layers": 3/'
refused 'f has no tensor model.decoder.layers.2.'
edit config.json 's/"d_model": 16/"d_model": 8/'
refused 'has shape'
edit tokenizer_config.json 's/"src_lang": "eng_Latn"/"src_lang": "xxx_Latn"/'
refused 'the language "xxx_Latn" is not in the vocabulary'
edit tokenizer_config.json 's/"NllbTokenizer"/"SMALL100Tokenizer"/'
refused 'tokenizer_class "SMALL100Tokenizer" is not supported'
edit tokenizer_config.json 's/"content": "deu_Latn"/"content": "eng_Latn"/'
refused 'the token "eng_Latn" has two ids'
edit tokenizer_config.json 's/"34": {/"x": {/'
refused 'added_tokens_decoder is malformed'
rm f/added_tokens.json f/special_tokens_map.json
echo '{"tokenizer_class": "NllbTokenizer"}' > f/tokenizer_config.json
refused 'f has no languages'
rm f/sentencepiece.bpe.model
refused 'cannot read f/sentencepiece.bpe.model'
mv f/sentencepiece.bpe.model f/tokenizer.json
refused 'f has no sentencepiece.bpe.model, only tokenizer.json'
edit generation_config.json 's/{/{"forced_bos_token_id": 4,/'
refused 'forced_bos_token_id 4 is not a language'
cp "$TX_SOURCE/tests/golden/m2m100/vocab.json" f/vocab.json
edit tokenizer_config.json 's/"NllbTokenizer"/"M2M100Tokenizer"/'
edit config.json 's/"vocab_size": [0-9]*/"vocab_size": 30/'
refused 'f/vocab.json and the tokenizer'"'"'s files have ids up to'

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
echo '{"additional_special_tokens": ["<mask>", "eng_Latn", {"content": "deu_Latn"}, "ace_Arab"]}' \
  > f/special_tokens_map.json
expect_status 0 tx-convert -q -o by_list f
expect_same wanted by_list

golden=$TX_SOURCE/tests/golden/m2m100
rm -rf f
cp -r "$golden" f
edit vocab.json 's/"<unk>": 3/"<unk>": 4/'
refused 'must have an id of its own'
edit vocab.json 's/"<unk>"/"<unknown>"/'
refused 'f/vocab.json has no token <unk>'
edit tokenizer_config.json 's/"wmt21"/"xyz"/'
refused 'language_codes "xyz" is not supported; m2m100 and wmt21 are'
edit tokenizer_config.json 's/"wmt21"/"m2m100"/'
refused 'have ids up to'
rm f/model.safetensors
refused 'f has no weights: neither model.safetensors nor pytorch_model.bin'
