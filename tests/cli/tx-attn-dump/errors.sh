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
