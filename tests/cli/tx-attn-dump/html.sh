# --html: a self-contained page; sentences that do not fit are left out with a notice.
make_model model
printf 'w5 w6 w7\n\nw8 w9\n' > in
printf 'w40\n\nw41 w42\n' > target
expect_status 0 tx-attn-dump -m model --html page.html --tgt target in
expect_empty_stdout
expect_empty_stderr
[ "$(head -n 1 page.html)" = '<!doctype html>' ] || fail 'the first line'
grep -q "Content-Security-Policy\" content=\"default-src 'none'" page.html || fail 'no policy'
grep -qE '(src|href)=' page.html && fail 'the page refers to another file'
grep -q '<footer>tx-attn-dump .*, model model, 2 sentences</footer>' page.html || fail 'the footer'
grep -q 'class="notice"' page.html && fail 'a notice without reason'
tx-attn-dump -m model --html - --tgt target in > printed
expect_same page.html printed
tx-attn-dump -m model --html one.html --threads 1 --tgt target in
expect_same page.html one.html

# data FILE: the JSON of the page.
data() { sed -n 's|^<script type="application/json" id="data">\(.*\)</script>$|\1|p' "$1"; }
data page.html | grep -qF '"line":3,"source":["w8","w9","</s>"]' &&
  fail 'markup in a token is not escaped'
data page.html | grep -qF '"line":3,"source":["w8","w9","\u003c/s\u003e"]' || fail 'the tokens'
data page.html | grep -qF '"q":[[{"scale":' || fail 'no queries'
data page.html | grep -qF '"words":{"source":{"starts":[0,1,2],' || fail 'no words'
data page.html | grep -qF '"statistics":{"lines":2,"heads":[{"kind":"encoder","layer":0,"head":0,' ||
  fail 'no statistics'
# 3 kinds of 8 heads: 28 pairs, 56 bytes, 76 characters of base64 each
data page.html | grep -qE '"distances":\[("[A-Za-z0-9+/=]{76}",?){3}\]' || fail 'no distances'
tx-attn-dump -m model --html weights.html --what weights --tgt target in
data weights.html | grep -qF '"q":' && fail 'queries although --what weights'
data weights.html | grep -qF '"log_p":' && fail 'log P although --what weights'
data page.html | grep -oE '"log_p":\[[-0-9.,]*\],"rank":\[[0-9,]*\]' | sed 's/,"rank".*/}/; s/^/{/' > log_p
tx-attn-dump -m model --what log_p --digits 4 --tgt target in | grep -oE '"log_p":\[[-0-9.,]+\]' |
  sed 's/.*/{&}/' | cmp - log_p || fail 'log P of the page'
tx-attn-dump -m model --html short.html --what weights,log_p --tgt target in
data short.html | grep -qF '"log_p":' || fail 'no log P with --what weights,log_p'
tx-attn-dump -m model --html mean.html --average all --tgt target in
data mean.html | grep -qF '"heads":["mean"],' || fail 'the mean of heads'
data mean.html | grep -qF '"statistics":' && fail 'statistics of means'

# Beyond the limit the rest is left out; a text far beyond it is an error.
awk 'BEGIN { for (i = 0; i < 300; ++i) { s = ""; for (j = 0; j < 20; ++j) s = s "w5 "; print s } }' > many
expect_status 0 tx-attn-dump -m model --html many.html --html-limit 1 --tgt many many
kept=$(grep -o '"line":' many.html | wc -l)
[ "$kept" -gt 5 ] && [ "$kept" -lt 300 ] || fail "$kept sentences in a page of 1 MB"
expect_stderr "tx-attn-dump: warning: $((300 - kept)) sentences from line $((kept + 1)) on left out, over the limit of 1 MB (--html-limit)"
grep -qF "from line $((kept + 1)) on left out" many.html || fail 'the page has no notice'
[ "$(wc -c < many.html)" -lt 1100000 ] || fail 'the page is larger than the limit'
yes 'w5 w6' | head -n 1000000 > million
expect_status 1 tx-attn-dump -m model --html no.html million
expect_stderr_contains 'the text has more than 10000 lines, of which about '
expect_no_file no.html
n=$(last_stderr | sed 's/.*head -n \([0-9]*\)$/\1/')
[ "$n" -gt 100 ] && [ "$n" -le 10000 ] || fail "$n lines would fit"
make_model large d_model 512 heads 8
awk 'BEGIN { for (i = 0; i < 200; ++i) printf "w5 "; print "" }' > long
expect_usage_error '--html-limit 1 is too small for the first sentence' \
  tx-attn-dump -m large --html no.html --html-limit 1 --tgt long long
expect_no_file no.html

printf '\n \n' > blank
expect_status 0 tx-attn-dump -m model --html blank.html blank
grep -q 'class="notice">All lines of the text are blank' blank.html || fail 'an empty page has no notice'

each_row expect_usage_error tx-attn-dump -m model <<'END'
--html model in => --html model is also an input: choose another name
--html in in => --html in is also an input
--html x.html --heatmap in => --html cannot be used with --heatmap
--html x.html --words in => --html cannot be used with --words: a page shows both tokens and words
--html x.html -o y.html in => --out cannot be used with --html: a page or picture is written to its own FILE
--html x.html --what scores in => --what scores: --html supports weights or weights,q,k,v, with or without log_p
--html-limit 3 in => --html-limit needs --html: add it
--html x.html --html-limit 0 in => --html-limit
END
expect_status 1 tx-attn-dump -m model --html missing/page.html in
expect_stderr_contains 'missing/page.html'
