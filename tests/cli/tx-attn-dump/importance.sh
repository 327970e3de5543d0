# --stats importance: the loss without a head equals that of tx-decode --tgt --mask-heads.
make_model model layers 2
awk 'BEGIN { for (i = 0; i < 12; ++i) { for (j = 0; j <= i % 5; ++j) printf "w%d ", 4 + (i * 7 + j) % 50; print "" } }' > in
awk '{ print $0 "w9" }' in > target
expect_status 0 tx-attn-dump -m model --stats importance --digits 6 --tgt target in
expect_stdout_lines 25
last_stdout > table
head -n 1 table | grep -q '^kind	layer	head	loss	change	gradient$' || fail 'the head of the table'

pieces=$(wc -w < target)
loss() { # OPTION...: -log P per token, </s> included, by tx-decode
  tx-decode -m model --precision fp32 --tgt target "$@" in |
    awk -F '\t' -v n=$((pieces + 12)) '{ sum -= $2 } END { printf "%.5f\n", sum / n }'
}
whole=$(loss)
for head in encoder.0.1 encoder.1.3 decoder.1.0 cross.0.2; do
  without=$(loss --mask-heads $head)
  awk -F '\t' -v head=$head -v whole="$whole" -v without="$without" '
    $1 "." $2 "." $3 == head {
      a = $4 - without; b = $5 - (without - whole)
      ok = a * a < 1e-9 && b * b < 1e-9 && $5 != 0
    }
    END { exit !ok }' table || fail "the loss without $head"
done
expect_status 0 tx-attn-dump -m model --stats importance --format json --kinds cross --tgt target in
expect_stdout_contains '{"lines":12,"pieces":'
expect_stdout_contains '{"kind":"cross","layer":0,"head":0,"loss":'
expect_status 0 tx-attn-dump -m model --stats importance --layers 1 in
expect_stdout_lines 13
expect_status 0 tx-attn-dump -m model --stats importance < /dev/null
expect_stdout_lines 25
for option in --words --shift; do
  expect_usage_error "$option cannot be used with --stats importance: losses are of whole lines" \
    tx-attn-dump -m model --stats importance $option in
done
expect_usage_error '--mask-heads cannot be used with --stats importance' \
  tx-attn-dump -m model --stats importance --mask-heads cross.0.0 in
