# A tokenizer.json of Hugging Face is a vocabulary: encode, decode, vocab, ids, training.
printf '%s' '{"added_tokens":[{"id":6,"content":"<|end|>","special":true,"normalized":false}],
  "normalizer":{"type":"Lowercase"},"pre_tokenizer":{"type":"Metaspace","replacement":"_"},
  "decoder":{"type":"Metaspace","replacement":"_"},
  "model":{"type":"BPE","unk_token":"<unk>","vocab":{"_":0,"a":1,"b":2,"<unk>":3,"_a":4,"ab":5},
  "merges":["_ a","a b"]}}' > tokenizer.json
printf 'A b\n\nbab x<|end|>\n' > text
tx-bpe encode -m tokenizer.json text > tokens
printf '_a _ b\n\n_ b ab _ <unk> <|end|>\n' > wanted
expect_same wanted tokens
tx-bpe decode -m tokenizer.json tokens > again
printf 'a b\n\nbab <unk>\n' > wanted
expect_same wanted again
# pad, unk, bos and eos come first; the others keep their order.
tx-bpe vocab -m tokenizer.json > vocab
printf '%s\t%s\n' 0 '<pad>' 1 '<unk>' 2 '<s>' 3 '</s>' 4 _ 5 a 6 b 7 _a 8 ab 9 '<|end|>' > wanted
expect_same wanted vocab
tx-bpe encode --ids --bos --eos -m tokenizer.json text | head -n 1 > ids
echo '2 7 4 6 3' > wanted
expect_same wanted ids
tx-bpe encode --ids -m tokenizer.json text | tx-bpe decode --ids -m tokenizer.json > same
expect_same again same
echo a > list
expect_usage_error 'the vocabulary of a converted model cannot be restricted' \
  tx-bpe encode -m tokenizer.json --vocabulary list text
# A model trained with it holds it.
printf 'a b\nb a\nab b\n' > train
tx-train -q --kind decoder --src train --vocab tokenizer.json --preset modern --layers 1 \
  --d-model 16 --heads 2 --kv-heads 1 --d-ff 24 --steps 1 --batch-tokens 64 --threads 1 -o run
tx-bpe encode -m run text > inside
expect_same tokens inside
expect_status 0 tx-decode -m run --beam 1 --max-new 2 train
# Programs that read SentencePiece models cannot take it; CTranslate2 takes tokens.
expect_status 1 tx-attn-dump -m run --html page.html --live
expect_stderr_contains '--live: the vocabulary of run is from a tokenizer.json'
expect_status 1 tx-convert --to llama -o none run
expect_stderr_contains 'cannot be converted to Llama: its vocabulary is not a SentencePiece model'
tx-train -q --src train --tgt train --vocab tokenizer.json --preset tiny --layers 1 --d-model 16 \
  --heads 2 --d-ff 24 --steps 1 --batch-tokens 64 --threads 1 -o both
expect_status 0 tx-convert -q --to ctranslate2 -o ct2 both
expect_no_file ct2/sentencepiece.model
grep -qF '"<|end|>"' ct2/*vocabulary.json || fail 'the vocabulary lacks a token'
# What is not supported is named.
sed 's/Lowercase/Uppercase/' tokenizer.json > odd.json
expect_status 1 tx-bpe encode -m odd.json text
expect_stderr 'tx-bpe: odd.json: normalizer Uppercase is not supported'
