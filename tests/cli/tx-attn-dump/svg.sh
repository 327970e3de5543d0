# --svg: lines and heads of the figures, and errors.
make_model model
printf 'w5 w6 w7\n\nw5\n' > in
printf 'w40 w41\n\nw41\n' > target
head -n 1 in > first
head -n 1 target > its_target
expect_status 0 tx-attn-dump -m model --svg all.svg --tgt target in
expect_empty_stdout
expect_empty_stderr
[ "$(grep -c 'class="caption">line [13]: cross, layer 1<' all.svg)" -eq 2 ] || fail 'the captions'
[ "$(grep -c '>head [0-3]<' all.svg)" -eq 8 ] || fail 'four heads of two lines'
grep -qE '(href|<script|url\()' all.svg && fail 'the picture refers to something'

# Every weight of at least 0.01 is a line whose width is the weight.
tx-attn-dump -m model --svg one.svg --heads 2 --tgt its_target first
tx-attn-dump -m model --kinds cross --layers 1 --heads 2 --tgt its_target first |
  sed 's/.*"cross":\[\[\[//; s/[]}]*$//; s/\],\[/,/g; s/\[//g' | tr ',' '\n' |
  awk '$1 >= 0.01 { printf "%.2f\n", 0.4 + 2.6 * $1 }' | sort -n > wanted
grep -o 'stroke-width="[0-9.]*"' one.svg | grep -o '[0-9.]*' > drawn
[ "$(wc -l < drawn)" -eq 12 ] || fail "$(wc -l < drawn) lines instead of 12"
paste wanted drawn | awk '($1 - $2) ^ 2 > 0.0101 ^ 2 { exit 1 }' || fail "widths: $(paste wanted drawn)"

# Heads do not cover each other: the lines of a pair lie side by side, strong ones are drawn last, and
# weak ones are left out.
tx-attn-dump -m model --svg four.svg --tgt its_target first
sed -n 's/.*d="M\([0-9.]*\) [0-9.]*L\([0-9.]*\) .*stroke-width="\([0-9.]*\)" stroke-opacity="\([0-9.]*\)".*/\1 \2 \3 \4/p' \
  four.svg > lines
awk 'seen[$1 " " $2]++ { bad = 1 } $4 < last || $4 < 0.1 + 0.9 * 0.04 - 0.005 { bad = 1 } { last = $4 }
  END { exit bad || NR < 20 }' lines || fail 'lines that cover each other'
cut -d ' ' -f 1 lines | sort -un | awk 'NR > 1 && $1 - last < 2.9 { exit 1 } { last = $1 }' ||
  fail 'lines of two heads that touch'

# One token, by text or number; --apart; several layers; words.
paths() { grep -c '<path d=' "$1"; }
tx-attn-dump -m model --svg token.svg --heads 2 --token w41 --tgt its_target first
tx-attn-dump -m model --svg number.svg --heads 2 --token 1 --tgt its_target first
expect_same token.svg number.svg
[ "$(paths token.svg)" -eq 4 ] || fail 'the lines of one token'
[ "$(grep -c 'class="other"' token.svg)" -eq 2 ] || fail 'the other tokens are not greyed out'
tx-attn-dump -m model --svg apart.svg --heads 0,2 --apart --kinds encoder --layers 0-1 first
[ "$(grep -c 'encoder, layer [01], head [02]<' apart.svg)" -eq 4 ] || fail 'heads apart'
printf '%s\n' 'tx-words 1' '<pad>' '<unk>' '<s>' '</s>' 'w4@@' '<b>&' > words
make_model markup vocabulary words
printf 'w4 <b>&\n' > text
printf '<b>&\n' > to
tx-attn-dump -m markup --svg markup.svg --tgt to text
grep -qF '>&lt;b&gt;&amp;</text>' markup.svg || fail 'markup in a word is not escaped'
tx-attn-dump -m model --svg - --tgt target in > printed
expect_same all.svg printed

expect_status 1 tx-attn-dump -m model --svg no.svg --token nothing --tgt its_target first
expect_stderr 'tx-attn-dump: line 1: --token "nothing" is not among the queries: "w40" "w41" "</s>"'
expect_no_file no.svg
yes 'w5' | head -n 300 > many
expect_status 1 tx-attn-dump -m model --svg no.svg --kinds encoder many
expect_stderr_contains 'more than 200 drawings in one picture: select fewer lines, layers or heads'
printf '\n' > blank
expect_status 1 tx-attn-dump -m model --svg no.svg blank
expect_stderr 'tx-attn-dump: the text has only blank lines'
expect_no_file no.svg
expect_usage_error '--token needs --svg' tx-attn-dump -m model --token w5 in
expect_usage_error '--apart needs --svg' tx-attn-dump -m model --apart in
expect_usage_error '--svg cannot be used with --html' tx-attn-dump -m model --svg a --html b in
expect_usage_error '--svg in is also an input' tx-attn-dump -m model --svg in in
expect_usage_error '--heads 7: the model has 4 heads, 0 to 3' \
  tx-attn-dump -m model --svg no.svg --heads 7 in
