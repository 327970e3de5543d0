# Unusable models and invalid options.
make_model model layers 2 heads 4
printf 'w5\n' > in
expect_status 1 tx-attn-dump -m missing in
expect_stderr_contains 'missing: No such file or directory'
head -c 3000 model > short
expect_status 1 tx-attn-dump -m short in
expect_stderr_contains 'short'
expect_status 1 tx-attn-dump -m model absent
expect_empty_stdout
expect_stderr 'tx-attn-dump: cannot read absent: No such file or directory'
expect_usage_error 'model' tx-attn-dump
expect_usage_error '--layers 2: the model has 2 encoder layers, 0 to 1' \
  tx-attn-dump -m model --layers 2
expect_usage_error '--heads 0-4: the model has 4 heads, 0 to 3' tx-attn-dump -m model --heads 0-4
expect_usage_error "--layers: 'x' is not a number or range; write a list like 0,2-3" \
  tx-attn-dump -m model --layers 1,x
expect_usage_error "--kinds self: must be a comma-separated list of encoder, decoder, cross" \
  tx-attn-dump -m model --kinds self
expect_usage_error "--what weight: must be a comma-separated list of weights, scores, scaled, masked, q, k, v, context, output, log_p" \
  tx-attn-dump -m model --what weight
expect_usage_error '--average applies to weights only: remove q from --what, or remove --average' \
  tx-attn-dump -m model --average heads --what weights,q
expect_usage_error '--what cannot be used with --heatmap: a map shows weights' \
  tx-attn-dump -m model --heatmap --what weights
expect_usage_error '--words applies to weights only: remove scores from --what, or remove --words' \
  tx-attn-dump -m model --words --what weights,scores,log_p
expect_usage_error '--top applies to weights, scores, scaled and masked only: remove v from --what, or remove --top' \
  tx-attn-dump -m model --top 3 --what scores,v
expect_usage_error '--format safetensors needs a file: give -o FILE' \
  tx-attn-dump -m model --format safetensors in
expect_usage_error '--dtype needs --format safetensors' tx-attn-dump -m model --dtype f16 in
expect_usage_error '--digits cannot be used with --format safetensors' \
  tx-attn-dump -m model --format safetensors -o out --digits 3 in
expect_usage_error 'in' tx-attn-dump -m model -o in in
expect_usage_error '--stats rows' tx-attn-dump -m model --stats rows in
expect_usage_error '--format tsv needs --stats' tx-attn-dump -m model --format tsv in
expect_usage_error '--stats cannot be used with --average' \
  tx-attn-dump -m model --stats heads --average heads in
expect_status 1 tx-attn-dump -m model --format safetensors -o missing/out in
expect_stderr_contains 'missing/'
expect_usage_error '--average' tx-attn-dump -m model --average layers
expect_usage_error '--digits' tx-attn-dump -m model --digits 0
expect_usage_error '--width needs --heatmap: add it' tx-attn-dump -m model --width 60
expect_usage_error '--digits cannot be used with --heatmap: a map shows shades' tx-attn-dump -m model --heatmap --digits 3
expect_usage_error '--device cuda' tx-attn-dump -m model --device cuda
if [ -e /dev/full ]; then
  expect_status 1 sh -c 'tx-attn-dump -m model in > /dev/full'
  expect_stderr_contains 'tx-attn-dump: cannot write standard output: No space left on device'
fi
for option in kinds layers heads; do
  expect_usage_error "--$option has an empty value: expected LIST" tx-attn-dump -m model --$option ""
  expect_usage_error "--$option has an empty value: expected LIST" tx-attn-dump -m model --$option= in
done

# A model without a finite weight: 8 bytes of the first of its data are NaN.
header=$(od -A n -t u8 -N 8 model | tr -d ' ')
cp model damaged
LC_ALL=C sed -i 's/"xxh3"/"Xxh3"/' damaged
printf '\377\377\377\377\377\377\377\377' | dd of=damaged bs=1 seek=$((header + 8)) conv=notrunc 2> dd.log
for weights in f16 int8; do
  expect_status 1 tx-attn-dump -m damaged --html page.html --live --weights $weights
  expect_stderr_contains 'damaged is damaged: '
  expect_stderr_contains ' has a weight that is not a finite number'
  expect_no_file page.html
done

# A model that forbids every token, even the end of the sentence.
(
  . "$TX_SOURCE/tests/cli/train.sh"
  small_text
)
{
  printf 'tx-pieces 1\n{"pieces":["<pad>","<unk>","<s>","</s>","\\u2581one"],"forbidden":[1,3,4]}\n'
  cat bpe.model
} > mapped
make_model silent vocabulary mapped
echo one > in
expect_status 1 tx-attn-dump -m silent in
expect_stderr 'tx-attn-dump: line 1: the translation has no tokens, not even the end: silent forbids all of them'
make_model silent-encoder vocabulary mapped kind encoder
echo '<mask>' > masked
expect_status 1 tx-decode -m silent-encoder masked
expect_stderr 'tx-decode: silent-encoder forbids every token: no mask can be filled'
