# label: node
# The page of --live splits text into the tokens of tx-bpe encode, with vocabularies of every kind.
# With TX_MULTI30K=DIR (tests/cli/examples/again.sh) on 10,000 lines, else on number words.
. "$TX_SOURCE/tests/cli/train.sh"
need_node
small_text
cat train.en train.de > text
if [ -n "${TX_MULTI30K-}" ]; then
  for side in en de; do
    head -n 5000 "$TX_MULTI30K/train.lc.norm.tok.$side"
  done > text
fi
printf '%s\n' '<extra_id_0>' '<extra_id_1>' the th xyz 猫 > symbols
train() { tx-bpe train "$@" text 2> /dev/null; }
train --vocab-size 1000 -o bpe
train --vocab-size 700 --user-symbols symbols --split-digits -o symbols.bpe
train --vocab-size 700 --normalization nfkc -o nfkc
train --vocab-size 700 --normalization nmt_nfkc --user-symbols symbols -o nmt_nfkc
train --type words -o words
set -- text
for vocabulary in bpe symbols.bpe nfkc nmt_nfkc words; do
  make_model "$vocabulary.model" vocabulary "$vocabulary"
done
# Token lists with a unigram model, and with byte-pair encoding.
for name in marian llama; do
  tx-convert -q -o "$name.model" "$TX_SOURCE/tests/golden/$name"
done
printf '%s\n' qx qxz '<extra_id_0>' 猫 > added
tx-train -q --init marian.model --add-tokens added --src text --tgt text --threads 1 --steps 1 -o grown 2> grown.log ||
  fail "$(cat grown.log)"
cp -L grown/last.safetensors grown.model
for model in *.model; do
  tx-attn-dump -m "$model" --html "$model.html" --live < /dev/null
  set -- "$@" "$model" "$model.html"
done
node "$TX_SOURCE/tests/node/tokens_test.js" "$@"
