# Attention of a language model to its own text.
make_model model kind decoder
printf 'w5 w6 w7\n\nw8\n' > in
expect_status 0 tx-attn-dump -m model < in
expect_stdout_lines 3
last_stdout > records
head -n 1 records | grep -q '"input":\["<s>","w5","w6","w7"\]' || fail "$(head -n 1 records)"
head -n 1 records | grep -q '"target":\["w5","w6","w7","</s>"\]' || fail 'target'
head -n 1 records | grep -q '"decoder":\[\[\[\[1' || fail 'no weights'
! grep -q '"cross"' records || fail 'cross'
expect_status 0 tx-attn-dump -m model --what log_p --digits 9 --precision fp32 < in
last_stdout | grep -o '"log_p":\[[^]]*' > log_p
expect_status 0 tx-decode -m model --perplexity --precision fp32 < in
last_stdout | cut -f 2 | sed -n 1p > wanted
head -n 1 log_p | tr -c '0-9.\n-' ' ' | awk -v wanted="$(cat wanted)" '{ for (i = 1; i <= NF; ++i) sum += $i }
  END { d = sum - wanted; exit !(d < 1e-3 && d > -1e-3) }' || fail "$(cat log_p wanted)"
expect_status 0 tx-attn-dump -m model --heatmap < in
expect_stdout_contains 'decoder, layer 1'
expect_status 0 tx-attn-dump -m model --stats heads < in
expect_stdout_contains 'decoder'
# Only repeated sequences have induction.
last_stdout | awk -F '\t' 'NR > 1 && $15 != 0 { exit 1 }' || fail 'induction without repetition'
echo 'w5 w6 w7 w5 w6 w7' > repeated
expect_status 0 tx-attn-dump -m model --stats heads < repeated
last_stdout | awk -F '\t' 'NR == 1 && $15 != "induction" || NR > 1 && $15 <= 0 { exit 1 }' ||
  fail 'no induction'
expect_status 0 tx-attn-dump -m model --stats pairs --words < in
expect_status 0 tx-attn-dump -m model --format safetensors -o arrays < in
grep -qa '"1.weights.decoder"' arrays || fail 'no array of weights'
expect_status 0 tx-attn-dump -m model --words --top 2 < in
! grep -q '"source_vocabulary"' records || fail 'a vocabulary of the source'
# Pictures and pages show the text and its log P; a blank line has none.
expect_status 0 tx-attn-dump -m model --svg picture.svg in
[ "$(grep -c 'class="caption">line [13]: decoder, layer 1<' picture.svg)" -eq 2 ] || fail 'captions'
expect_status 0 tx-attn-dump -m model --html page.html in
expect_empty_stderr
grep -q ', model model, 2 sentences</footer>' page.html || fail 'the sentences of the page'
grep -qF '"line":3,"source":[],"input":["\u003cs\u003e","w8"],"target":["w8","\u003c/s\u003e"]' page.html ||
  fail 'the tokens of the page'
grep -qF '"text":"w5 w6 w7"' page.html || fail 'the text of the page'
grep -qE '"log_p":\[-' page.html || fail 'no log P'
for option in '--tgt in' --align '--stats importance' '--beam 2' '--beam 4' \
  '--alpha 0.6'; do
  # shellcheck disable=SC2086  # a list of words
  expect_status 2 tx-attn-dump -m model $option in
  expect_stderr_contains "${option%% *}"
  expect_stderr_contains 'needs a model of kind encoder-decoder: --model model is of kind decoder'
done
expect_usage_error '--kinds cross: the model has no cross attention' tx-attn-dump -m model --kinds cross in
