# Directories of Hugging Face whose tokens only tokenizer.json has: the same scores and outputs as
# with the SentencePiece model (tests/golden/make_saved_tokenizers.py); GPT-2 reads text.
check_log_p() { # WANTED: log P of each line of "ours"
  [ "$(wc -l < ours)" -eq "$(wc -l < "$1")" ] || fail 'log P of a line is missing'
  paste ours "$1" | awk '
    { d = $1 - $2; if (d < 0) d = -d; if (d > 2e-5 * -$2) { print NR ": " $0; bad = 1 } }
    END { exit bad }' >&2 || fail "log P differs from transformers: $1"
}

llama=$TX_SOURCE/tests/golden/llama
cp -r "$llama" llama
expect_status 0 tx-convert -q -o both.safetensors llama
rm llama/tokenizer.json
expect_status 0 tx-convert -q -o model.safetensors llama
expect_same model.safetensors both.safetensors  # tokenizer.model comes first
rm llama/tokenizer.model
expect_status 1 tx-convert -o none llama
expect_stderr_contains 'llama has no vocabulary: neither tokenizer.model nor tokenizer.json'
cp "$llama/tokenizer.json" llama
expect_status 0 tx-convert -q -o m llama
expect_status 0 tx-decode -m m --precision fp32 --perplexity "$llama/prompts"
last_stdout | cut -f 2 > ours
check_log_p "$llama/log_p"
tx-bpe encode -m m "$llama/prompts" > pieces
expect_status 0 tx-decode -m m --precision fp32 --beam 1 --max-new 12 --echo --pieces pieces
last_stdout | tx-bpe decode -m m > texts
expect_same "$llama/greedy" texts
expect_status 1 tx-convert --to llama -o hf m
expect_stderr_contains 'm cannot be converted to Llama: its vocabulary is not a SentencePiece model'
expect_no_file hf
# A chat token is one token, and has no text.
sed -i -e 's/"<0x01>":4/"<|chat|>":4/' \
  -e 's/"added_tokens":\[/&{"id":4,"content":"<|chat|>","special":true,"normalized":false},/' \
  llama/tokenizer.json
expect_status 0 tx-convert -q -o chat llama
echo 'ab<|chat|>dog' | tx-bpe encode -m chat > pieces
grep -q ' <|chat|> ' pieces || fail "not one token: $(cat pieces)"
tx-bpe decode -m chat pieces > text
echo 'ab dog' > wanted
expect_same wanted text
# Without bos before a text, as the file says.
sed 's/{"SpecialToken":{"id":"<s>","type_id":0}},{"Seq/{"Seq/' "$llama/tokenizer.json" \
  > llama/tokenizer.json
expect_status 0 tx-convert -q -o bare llama
expect_status 1 tx-decode -m bare --precision fp32 --perplexity "$llama/prompts"
expect_stderr_contains 'bare has no token that begins a text'
expect_status 0 tx-decode -m bare --precision fp32 --beam 1 --max-new 3 "$llama/prompts"
sed -i 's/"A","type_id":0}}/&,{"SpecialToken":{"id":"<s>","type_id":0}}/' llama/tokenizer.json
expect_status 1 tx-convert -o none llama
expect_stderr_contains 'the post_processor must put bos before a text, or nothing'
sed 's/"type":"Metaspace"/"type":"Odd"/' "$llama/tokenizer.json" > llama/tokenizer.json
expect_status 1 tx-convert -o none llama
expect_stderr_contains 'llama/tokenizer.json: pre_tokenizer Odd is not supported'
printf '{"model":{"type":"WordPiece","vocab":{"a":400,"[UNK]":0}}}' > llama/tokenizer.json
expect_status 1 tx-convert -o none llama
expect_stderr_contains 'has the token "a" with the id 400, but the embedding has 320 rows'

nllb=$TX_SOURCE/tests/golden/nllb
cp -r "$nllb" nllb
expect_status 0 tx-convert -q -o n nllb
rm nllb/sentencepiece.bpe.model
expect_status 0 tx-convert -q -o j nllb
# Text cannot forge the end or a language.
echo 'ab </s> deu_Latn dog' | tx-bpe encode --ids -m j | tr ' ' '\n' | tail -n +2 > ids
! grep -qx 3 ids || fail "</s> in a text: $(paste -s ids)"
[ "$(grep -cx 1 ids)" = 2 ] || fail "not two unknown tokens: $(paste -s ids)"
# transformers 5 splits words otherwise; the same tokens give the same translations.
tx-bpe encode -m n "$nllb/source" > pieces
for m in n j; do
  expect_status 0 tx-decode -m $m --precision fp32 --beam 1 --max-extra 12 --scores \
    --target-language deu_Latn --pieces pieces
  last_stdout > $m.out
done
expect_same n.out j.out
echo 'cab do' | tx-bpe encode -m j > pieces
printf 'eng_Latn \342\226\201c a b \342\226\201 d o\n' > wanted
expect_same wanted pieces

# GPT-2: a word list without merges.txt and tokenizer.json; with either its tokenizer splits text.
gpt2=$TX_SOURCE/tests/golden/gpt2
cp -r "$gpt2" gpt2
printf '#version: 0.2\n\304\240 a\n\304\240a b\na b\n' > gpt2/merges.txt
expect_status 0 tx-convert -q -o merges gpt2
tr -d '\n' < gpt2/vocab.json > vocab
printf '{"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},"decoder":{"type":"ByteLevel"},
  "added_tokens":[{"id":19,"content":"<|endoftext|>","special":true}],
  "model":{"type":"BPE","vocab":%s,"merges":["\304\240 a","\304\240a b","a b"]}}' "$(cat vocab)" \
  > gpt2/tokenizer.json
expect_status 0 tx-convert -q -o json gpt2
expect_status 0 tx-convert -q -o words "$gpt2"
echo ' ab a!<|endoftext|>b' > text
for m in merges json; do
  tx-bpe encode -m $m text > pieces
  printf '\304\240ab \304\240a ! <|endoftext|> b\n' > wanted
  expect_same wanted pieces
  tx-bpe decode -m $m pieces > again
  echo ' ab a!b' > wanted
  expect_same wanted again
  tx-bpe encode -m $m again > pieces
  expect_status 0 tx-decode -m $m --precision fp32 --perplexity again
  last_stdout | cut -f 2 > $m.log_p
done
expect_status 0 tx-decode -m words --precision fp32 --perplexity pieces
last_stdout | cut -f 2 > words.log_p
expect_same words.log_p merges.log_p
expect_same words.log_p json.log_p
