# label: node
# The page of --live computes what tx-decode --precision int8 and tx-bpe do: greedy outputs, log P
# and tokens, for models of several architectures.
need_node
. "$TX_SOURCE/tests/cli/train.sh"
# same MODEL TEXT PRECISION [OPTION]...: a case for the comparison of the page of MODEL with tx-decode and
# tx-bpe; OPTION of tx-attn-dump.
same() {
  number=$((${number-0} + 1))
  case=$number-${1##*/}
  tx-decode -q -m "$1" --precision "$3" --beam 1 --threads 1 --json < "$2" > "$case.decoded"
  tx-bpe encode -m "$1" < "$2" > "$case.encoded"
  [ "$3" = int8 ] && share=1 || share=0.99
  echo "$case.html $2 $case.decoded $case.encoded $share" >> cases
  model=$1
  shift 3
  tx-attn-dump -m "$model" --html "$case.html" --live "$@"
}
# trained RUN OPTION...
trained() {
  run=$1
  shift
  small_train "$@" -o "$run" 2> run.log || fail "$(cat run.log)"
}

small_text
head -n 30 valid.en > text
# Spaces, characters without a token, markup, digits of other scripts, emoji of several characters.
cat >> text << 'EOF'
  two   spaces  and a tab	here  
<b>bold</b> & "quotes" <unk> </s> <pad>
Größe, naïve, ﬁne, ½, ①, Ｆｕｌｌ, 日本語, ١٢٣, 👩‍👩‍👧 é é

EOF
trained run --steps 60 --save-every 60
same run text int8
same run text fp32 --weights f16
tx-avg -q --to int8 -o int8 run
same int8 text int8
trained modern --norm-position pre --norm-type rms --activation swiglu --positions rotary --kv-heads 1
same modern text int8
trained other --norm-position post --activation gelu --positions learned --tie none --attention-bias \
  --output-bias --window 3 --layers 2
same other text int8
tx-bpe train --vocab-size 280 --normalization nfkc -o en.model train.en 2> tx-bpe.log
tx-bpe train --type words -o de.words train.de 2> tx-bpe.log
tx-train -q --preset toy --steps 12 --tie target --src train.en --tgt train.de --vocab-src en.model \
  --vocab-tgt de.words --threads 1 -o sides
same sides text int8
trained words --vocab words --positions alibi
same words valid.en int8

small_texts="--src train.en --valid-src valid.en"
trained decoder --kind decoder
cut -d ' ' -f 1-2 valid.en > prompts
same decoder prompts int8

trained encoder --kind encoder --vocab words
awk '{ $(1 + NR % 3) = "<mask>"; print }' valid.en > masked
tx-attn-dump -m encoder --html encoder.html --live
tx-decode -q -m encoder --precision int8 --threads 1 masked | cut -f 1 > filled
echo 'encoder.html masked filled - 1' >> cases

# Models of other toolkits, with their token ids. The prompts of Llama, whose random weights give large
# logits, end in a mark: tx-decode reads a last word in steps, with rounded keys, and the page does not.
golden=$TX_SOURCE/tests/golden
sed 's/$/./' "$golden/llama/prompts" > llama.prompts
for model in marian/source.en llama/prompts gpt2/prompts fairseq/source.en; do
  text=$golden/$model
  [ "$model" != llama/prompts ] || text=llama.prompts
  tx-convert -q -o "converted-${model%/*}" "$golden/${model%/*}"
  same "converted-${model%/*}" "$text" int8
done

# Not through xargs, which would change the status of a skipped test.
# shellcheck disable=SC2046  # words
node "$TX_SOURCE/tests/node/parity_test.js" $(cat cases)
