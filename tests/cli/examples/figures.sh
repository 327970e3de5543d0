# Figures 3 to 5: the second-to-last layer, and its two heads of the highest confidence.
make_model model layers 3 heads 4
expect_status 0 sh "$TX_SOURCE/examples/figures.sh" model 'w5 w6 w7 w8' w6 out
expect_stdout <<'END'
out/figure3.svg
out/figure4-top.svg
out/figure4-bottom.svg
out/figure5.svg
END
expect_empty_stderr
grep -c '>head [0-3]<' out/figure3.svg > heads
[ "$(cat heads)" -eq 4 ] || fail "figure 3 shows $(cat heads) heads"
[ "$(grep -c '>head [0-3]<' out/figure4-top.svg)" -eq 1 ] || fail 'figure 4, top'
[ "$(grep -c '>head [0-3]<' out/figure4-bottom.svg)" -eq 2 ] || fail 'figure 4, bottom'
[ "$(grep -c 'encoder, layer 1, head [0-3]<' out/figure5.svg)" -eq 2 ] || fail 'figure 5'
# The two heads of the highest confidence.
tx-attn-dump -m model --kinds encoder --layers 1 --stats heads out/sentence.txt > table
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "confidence") c = i; next }
  { print $c "\t" $3 }' table | sort -rn | head -n 2 | cut -f 2 | sort > wanted
grep -o 'encoder, layer 1, head [0-3]<' out/figure5.svg | grep -o '[0-3]<$' | tr -d '<' | sort > drawn
expect_same wanted drawn
LAYER=0 HEADS=3,0 sh "$TX_SOURCE/examples/figures.sh" model 'w5 w6' w6 other > /dev/null
[ "$(grep -c 'encoder, layer 0, head [03]<' other/figure5.svg)" -eq 2 ] || fail 'LAYER and HEADS'
expect_status 2 sh "$TX_SOURCE/examples/figures.sh" model
expect_stderr_contains 'usage: sh examples/figures.sh'
