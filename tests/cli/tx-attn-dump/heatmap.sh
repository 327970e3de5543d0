# --heatmap: as wide as the terminal, colours only on a terminal.
make_model model
printf 'w5 w6 w7 w8 w9 w10 w11 w12 w13 w14\n\nw5\n' > in
printf 'w40\n\nw41\n' > target
expect_status 0 tx-attn-dump -m model --heatmap --tgt target in
last_stdout > drawing
[ "$(sed -n 1p drawing)" = \
  'line 1: cross, layer 1, mean of 4 heads; columns: source, rows: token predicted' ] ||
  fail 'the title'
[ "$(sed -n 2p drawing)" = '     w5 w6 w7 w8 w9 w10 w11 w12 w13 w14 </s>' ] || fail 'the labels'
sed -n 3p drawing | grep -q '^ w40 ' || fail 'the first row'
sed -n 5p drawing | grep -q '^largest [01]\.[0-9]*; ░ ' || fail 'the legend'
expect_stdout_contains 'line 2: blank'
grep -q "$(printf '\033')" drawing && fail 'colours in a file'
COLUMNS=40 tx-attn-dump -m model --heatmap --tgt target in > narrow
cmp -s narrow drawing && fail 'COLUMNS is ignored'
expect_status 0 tx-attn-dump -m model --heatmap --tgt target --width 40 in
expect_stdout_file narrow
expect_status 0 tx-attn-dump -m model --heatmap --kinds encoder --layers 0 --heads 3 in
expect_stdout_contains 'line 1: encoder, layer 0, head 3; columns and rows: source'
# Every selected head is drawn with its own legend.
expect_status 0 tx-attn-dump -m model --heatmap --kinds encoder,cross --layers 0-1 --heads 0,2-3 \
  --tgt target in
[ "$(last_stdout | grep -c '^line [13]: ')" -eq 24 ] || fail '12 maps for each of two lines'
expect_stdout_contains 'line 1: encoder, layer 0, head 2; '
expect_stdout_contains 'line 3: cross, layer 1, head 3; '
[ "$(last_stdout | grep -c '^largest 0\.[0-9]*[1-9]')" -eq 24 ] || fail 'a legend without figures'
# --color always: eight shades, each in its colour.
tx-attn-dump -m model --heatmap --color always --kinds encoder --tgt target in > coloured
grep -q "$(printf '\033')\[38;5;" coloured || fail 'no colours although --color always'
[ "$(grep '^largest' coloured | head -n 1 | grep -o '38;5;[0-9]*' | sort -u | wc -l)" -eq 8 ] ||
  fail 'eight shades'
NO_COLOR='' tx-attn-dump -m model --heatmap --color never --tgt target in > plain
grep -q "$(printf '\033')" plain && fail 'colours although --color never'
expect_usage_error '--color' tx-attn-dump -m model --heatmap --color red in
expect_usage_error '--color needs --heatmap' tx-attn-dump -m model --color always in
