# --live: a page that contains the model. Layout, sizes, examples and refusals.
# data FILE: the JSON of the page.
data() { sed -n 's|^<script type="application/json" id="data">\(.*\)</script>$|\1|p' "$1"; }
# weights FILE N: the bytes of model N's weights.
weights() {
  sed -n "s|^<script type=\"text/plain\" id=\"weights-$2\">\(.*\)</script>\$|\1|p" "$1" | base64 -d
}
# number FILE TENSOR KEY: a position in the weights.
number() { data "$1" | grep -o "\"$2\":{[^}]*}" | grep -o "\"$3\":[0-9]*" | cut -d : -f 2; }
# bytes FILE TENSOR KEY COUNT: COUNT bytes of the weights from that position, as decimal numbers.
bytes() {
  weights "$1" 0 | tail -c "+$(($(number "$1" "$2" "$3") + 1))" | head -c "$4" | od -A n -v -t d1
}

make_model model
expect_status 0 tx-attn-dump -m model --html page.html --live
expect_empty_stdout
expect_empty_stderr
[ "$(head -n 1 page.html)" = '<!doctype html>' ] || fail 'the first line'
grep -q "default-src 'none'.*worker-src blob:" page.html || fail 'no policy'
grep -qE '(src|href)=' page.html && fail 'the page refers to another file'
grep -q '<script type="text/plain" id="engine">' page.html || fail 'no engine'
grep -q '<footer>tx-attn-dump .*, page format 1, model model, vocabulary [0-9a-f]\{16\}</footer>' \
  page.html || fail 'the footer'
data page.html | grep -qF '{"format":1,"models":[{"name":"model","kind":"encoder-decoder","checksum":"' ||
  fail 'the head of the data'
data page.html | grep -qF '"examples":[]' || fail 'examples without text'
data page.html | grep -qF '"languages":[]' || fail 'languages without a training text'
(
  . "$TX_SOURCE/tests/cli/train.sh"
  small_text
  small_train --steps 1 -o trained 2> /dev/null
)
tx-avg -q --last 1 -o mean trained
tx-attn-dump -m mean --html mean.html --live
data mean.html | grep -qF '"languages":["en","de"]' || fail 'no languages of an averaged model'
for key in kind source_vocabulary target_vocabulary encoder_layers decoder_layers d_model d_ff heads \
  d_k d_v kv_heads window activation norm norm_type positions max_positions position_offset \
  rotary_base tie scaled_embeddings attention_bias norm_epsilon causal_mask; do
  data page.html | sed 's/.*"config":{\([^}]*\)}.*/\1/' | grep -qF "\"$key\":" || fail "no $key"
done
tx-attn-dump -m model --html - --live > printed
expect_same page.html printed
mkdir run
cp model run/best.safetensors
tx-attn-dump -m run --html run.html --live
sed 's/model run,/model model,/; s/"name":"run"/"name":"model"/' run.html > renamed
expect_same page.html renamed

# The weights are those of the 8-bit file that tx-avg writes, which is stored unchanged: byte q + 128
# of row 16 g + r and column 4 c + i is at [g, c, r, i].
tx-avg --to int8 -o int8 model
tx-attn-dump -m int8 --html int8.html --live
weights page.html 0 > w
weights int8.html 0 | cmp - w || fail 'other weights from an 8-bit file'
size=$(od -A n -t u8 -N 8 int8 | tr -d ' ')
tail -c +9 int8 | head -c "$size" > header
# tensor NAME: its bytes in the file.
tensor() {
  place=$(grep -o "\"$1\":{[^}]*}" header | sed 's/.*"data_offsets":\[\([0-9]*\),\([0-9]*\)\].*/\1 \2/')
  tail -c "+$((8 + size + ${place% *} + 1))" int8 | head -c $((${place#* } - ${place% *}))
}
name=encoder.layers.0.ffn.in_proj.weight
shape=$(data page.html | grep -o "\"$name\":{\"shape\":\[[0-9,]*\]" | sed 's/.*\[\(.*\)\]/\1/')
rows=${shape%,*} cols=${shape#*,}
tensor $name | od -A n -v -t u1 | tr -s ' ' '\n' | awk -v rows="$rows" -v cols="$cols" '
  NF { byte[n++] = $1 - 128 }
  END { for (r = 0; r < rows; ++r) for (c = 0; c < cols; ++c)
    print byte[((int(r / 16) * int((cols + 3) / 4) + int(c / 4)) * 16 + r % 16) * 4 + c % 4] }' > wanted
bytes page.html $name at $((rows * cols)) | tr -s ' ' '\n' | grep . > stored
expect_same wanted stored
bytes page.html $name scales_at $((4 * rows)) > stored
tensor $name.scale | od -A n -v -t d1 | cmp - stored || fail 'the scales'

# f16: the number of bytes, and 1 as the half 0x3C00.
tx-attn-dump -m model --html f16.html --live --weights f16
data f16.html | grep -qF '"precision":"f16"' || fail 'the precision'
[ $(($(weights f16.html 0 | wc -c) * 10)) -gt $(($(wc -c < w) * 17)) ] || fail 'f16 is too small'
expect_usage_error '--weights f16: int8 holds 8-bit weights; give --weights int8, or the model it was made from' \
  tx-attn-dump -m int8 --html x.html --live --weights f16
expect_no_file x.html

# Examples are text, whatever they contain; blank lines are left out.
printf '%s\n' 'w5 w6' '' "</script><script>alert(1)</script>" 'a "b" & c' > in
tx-attn-dump -m model --html examples.html --live in
data examples.html | grep -qF '"examples":["w5 w6","\u003c/script\u003e\u003cscript\u003ealert(1)\u003c/script\u003e","a \"b\" \u0026 c"]' ||
  fail 'examples'
tx-attn-dump -m model --html standard.html --live - < in
expect_same examples.html standard.html
yes w5 | head -n 101 > many
expect_status 1 tx-attn-dump -m model --html x.html --live many
expect_stderr 'tx-attn-dump: many:101: the page shows at most 100 examples: select some lines, for example with head -n 100'
expect_no_file x.html
head -c 2001 /dev/zero | tr '\0' w > long
expect_status 1 tx-attn-dump -m model --html x.html --live long
expect_stderr 'tx-attn-dump: long:1: an example has at most 2,000 bytes'
printf 'w5 \377\n' > invalid
expect_status 1 tx-attn-dump -m model --html x.html --live --strict invalid
expect_stderr_contains 'invalid:1'

# Two models, each with its weights; models of other kinds.
make_model other seed 2
tx-attn-dump -m model -m other --html two.html --live
weights two.html 0 | cmp - w || fail 'the first of two models'
weights two.html 1 | cmp -s - w && fail 'the second model is the first'
grep -q 'model model, vocabulary [0-9a-f]*, model other, vocabulary' two.html || fail 'the footer of two'
for kind in decoder encoder; do
  make_model $kind kind $kind
  expect_status 0 tx-attn-dump -m $kind --html $kind.html --live
  expect_empty_stderr
  data $kind.html | grep -qF "\"kind\":\"$kind\"" || fail "the kind $kind"
done
each_row expect_usage_error tx-attn-dump -m model <<'END'
-m decoder --html x.html --live => --live compares models of one kind: model is of kind encoder-decoder, decoder of kind decoder
-m model -m model --html x.html --live => --model is given 3 times, but a page compares at most 2 models
-m other --html x.html in => --model is given 2 times, but several models are supported only with --live: give one -m
END

tx-convert -q -o many_languages "$TX_SOURCE/tests/golden/m2m100"
expect_status 1 tx-attn-dump -m many_languages --html x.html --live
expect_stderr 'tx-attn-dump: --live cannot be used with many_languages, a multilingual model'

# Sizes: the presets tiny and base with 8,000 tokens.
make_model tiny words 8000 layers 4 heads 4 d_model 128 d_ff 256
tx-attn-dump -m tiny --html tiny.html --live
[ "$(wc -c < tiny.html)" -le 4000000 ] || fail "tiny: $(wc -c < tiny.html) bytes"
expect_usage_error 'the page needs 4 MB, more than --html-limit 1: increase it, or use a smaller model' \
  tx-attn-dump -m tiny --html x.html --live --html-limit 1
tx-attn-dump -m tiny --html tiny.html --live --html-limit 4
expect_usage_error 'MB, more than --html-limit 4: increase it, or use --weights int8' \
  tx-attn-dump -m tiny --html x.html --live --html-limit 4 --weights f16
make_model base words 8000 layers 6 heads 8 d_model 512 d_ff 2048
tx-attn-dump -m base --html base.html --live
[ "$(wc -c < base.html)" -le 70000000 ] || fail "base: $(wc -c < base.html) bytes"
expect_usage_error 'MB, more than --html-limit 60: increase it' \
  tx-attn-dump -m base --html x.html --live --html-limit 60
expect_no_file x.html

# Options that have no effect.
for option in '--kinds cross' '--heads 0' '--average all' '--tgt in' '--beam 2' '--precision bf16' \
  '--mask-heads encoder.0.0' '--digits 3' '--out x'; do
  # shellcheck disable=SC2086  # option and value
  expect_usage_error "--live: the page runs the model on any text; only --model, FILE, --html, --html-limit, --weights and --strict go with it" \
    tx-attn-dump -m model --html x.html --live $option
done
expect_usage_error '--live needs --html: add it' tx-attn-dump -m model --live in
expect_usage_error '--weights needs --live: add it' tx-attn-dump -m model --html x.html --weights f16 in
expect_usage_error '--weights int4' tx-attn-dump -m model --html x.html --live --weights int4
expect_usage_error '--html model is also an input' tx-attn-dump -m model --html model --live
expect_status 1 tx-attn-dump -m model --html missing/page.html --live
expect_stderr_contains 'missing/page.html'
