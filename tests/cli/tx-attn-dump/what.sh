# Every quantity of --what, log P and ranks, and both labels of rows.
make_model model
printf 'w5 w6\n\nw7\n' > in
printf 'w9 w8\n\nw4\n' > target
expect_status 0 tx-attn-dump -m model --what q,k,v,scores,scaled,masked,context,output --layers 1 \
  --heads 2 --tgt target in
expect_stdout_lines 3
for step in scores scaled masked q k v context output; do
  expect_stdout_contains "\"$step\":{\"encoder\":[[["
  expect_stdout_contains "\"$step\":{\"encoder\":[],\"decoder\":[],\"cross\":[]}"
done
expect_stdout_lacks ',"encoder":['
expect_stdout_lacks '"log_p"'
# Only the decoder has a mask: null in columns 2 and 3 of the first row and column 3 of the second.
last_stdout | head -n 1 > first
[ "$(grep -o null first | wc -l)" -eq 3 ] || fail 'what is masked'
grep -q '"decoder":\[\[\[\[[-0-9.]*,null,null\],\[[-0-9.]*,[-0-9.]*,null\],' first || fail 'the mask'

# log P of the tokens sums to tx-decode's log P of the line; ranks count from 1.
expect_status 0 tx-attn-dump -m model --what log_p --digits 9 --tgt target in
last_stdout > likely
tx-decode -m model --precision fp32 --tgt target in > scored
for line in 1 3; do
  wanted=$(sed -n "${line}p" scored | cut -f 2)
  sed -n "${line}p" likely | sed 's/.*"log_p":\[\([^]]*\)\].*/\1/' | tr , '\n' |
    awk -v wanted="$wanted" '{ sum += $1; ++n }
      END { d = sum - wanted; exit !(n > 1 && d * d < 1e-9) }' || fail "log P of line $line"
done
grep -q '"rank":\[[1-9][0-9]*,[1-9][0-9]*,[1-9][0-9]*\]' likely || fail 'ranks'

# --shift: the same numbers with other labels.
tx-attn-dump -m model --tgt target in > plain
expect_status 0 tx-attn-dump -m model --shift --tgt target in
expect_stdout_contains '"rows":{"encoder":"source","decoder":"input","cross":"input"}'
last_stdout | sed 's/"rows":{[^}]*}//' > shifted
sed 's/"rows":{[^}]*}//' plain | cmp - shifted
expect_status 0 tx-attn-dump -m model --shift --heatmap --tgt target in
expect_stdout_contains 'columns: source, rows: token read'
