# Attention of a model of kind encoder to its own text, which may contain masks.
make_model model kind encoder
printf 'w5 w6 w7\n\nw8 <mask>\n' > in
expect_status 0 tx-attn-dump -m model < in
expect_stdout_lines 3
last_stdout > records
sed -n 1p records | grep -qF '"source":["<s>","w5","w6","w7"],"input":[],"target":[],' ||
  fail "the tokens: $(sed -n 1p records)"
sed -n 2p records | grep -qF '"line":2,"source":[],' || fail 'a blank line'
sed -n 3p records | grep -qF '"source":["<s>","w8","<mask>"],' || fail 'the mask'
grep -q '"source_vocabulary":"[0-9a-f]*","line"' records || fail 'the vocabulary'
# 2 layers of 8 heads, 4 rows of sum 1: every token attends to all others.
sed -n 1p records | sed 's/.*"encoder"://' | grep -o '\[[0-9][0-9.,]*\]' | tr -d '[]' | awk -F , '
  { sum = -1; for (i = 1; i <= NF; ++i) sum += $i
    if (NF != 4 || sum * sum > 1e-10 || $4 == 0) bad = 1 } END { exit bad || NR % 16 != 0 || NR < 16 }' ||
  fail 'the rows'
# The weights are those of the model that tx-decode runs: equal inputs, equal maps.
expect_status 0 tx-attn-dump -m model --threads 1 < in
expect_stdout_file records
expect_status 0 tx-attn-dump -m model --what scores,masked,q,k,v,context,output < in
expect_status 0 tx-attn-dump -m model --words --top 2 < in
expect_stdout_contains '"source":["<s>","w8","<mask>"],'
expect_status 0 tx-attn-dump -m model --heatmap < in
expect_stdout_contains 'encoder, layer 1'
expect_status 0 tx-attn-dump -m model --stats heads < in
expect_stdout_contains 'encoder'
last_stdout | awk -F '\t' 'NR > 1 && ($4 != 7 || $11 != 0) { exit 1 }' || fail 'rows, or an end that is not there'
expect_status 0 tx-attn-dump -m model --stats pairs < in
expect_status 0 tx-attn-dump -m model --format safetensors -o arrays < in
grep -qa '"3.weights.encoder"' arrays || fail 'no array of weights'
expect_status 0 tx-attn-dump -m model --svg picture.svg in
[ "$(grep -c 'class="caption">line [13]: encoder, layer 1<' picture.svg)" -eq 2 ] || fail 'captions'
expect_status 0 tx-attn-dump -m model --html page.html in
expect_empty_stderr
grep -q ', model model, 2 sentences</footer>' page.html || fail 'the sentences of the page'
grep -qF '"q":[[{"scale":' page.html || fail 'no queries'
! grep -qF '"log_p"' page.html || fail 'log P without targets'
# A long line is cut, with a warning.
expect_status 0 tx-attn-dump -m model --max-length 2 < in
expect_stderr_contains '3 tokens, cut to the first 2 (--max-length)'
for option in '--tgt in' --align '--stats importance' '--beam 2'; do
  # shellcheck disable=SC2086  # a list of words
  expect_status 2 tx-attn-dump -m model $option in
  expect_stderr_contains 'needs a model of kind encoder-decoder: --model model is of kind encoder'
done
expect_usage_error '--shift needs a model of kind encoder-decoder or decoder' \
  tx-attn-dump -m model --shift in
expect_usage_error '--what log_p: a model of kind encoder predicts no target; remove log_p' \
  tx-attn-dump -m model --what log_p in
expect_usage_error '--kinds cross: the model has no cross attention' tx-attn-dump -m model --kinds cross in
