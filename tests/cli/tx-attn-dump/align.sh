# --align: a line of alignments per line, from the selected map or the best head of a development
# text.
make_model model
awk 'BEGIN { for (i = 0; i < 40; ++i) { for (j = 0; j <= i % 7; ++j) printf "w%d ", 4 + (i * 7 + j) % 50; print "" } }' > src
awk 'BEGIN { for (i = 0; i < 40; ++i) { for (j = 0; j <= i % 5; ++j) printf "w%d ", 4 + (i * 3 + j) % 50; print "" } }' > tgt
printf 'w5 w6\n\nw7\n' > in
printf 'w9 w8\n\nw4\n' > target
expect_status 0 tx-attn-dump -m model --align --tgt target in
expect_stdout_lines 3
expect_empty_stderr
last_stdout | sed -n 1p | grep -qx '[01]-[01] [01]-[01]' || fail 'the alignment of line 1'
last_stdout | sed -n 2,3p > rest
printf '\n0-0\n' | cmp - rest || fail 'the alignments of lines 2 and 3'

# The default is the mean of the last layer's heads, as in records.
tx-attn-dump -m model --kinds cross --layers 1 --average heads --digits 9 --tgt tgt src |
  sed 's/.*"cross":\[\[\[\[\(.*\)\]\]\]\]}/\1/' | awk '{
    rows = split($0, row, /\],\[/)
    for (i = 1; i < rows; ++i) {
      columns = split(row[i], w, ",")
      best = 1
      for (j = 2; j < columns; ++j) if (w[j] > w[best]) best = j
      print NR, best - 1 "-" i - 1
    }
  }' | sort > wanted
tx-attn-dump -m model --align --tgt tgt src |
  awk '{ for (i = 1; i <= NF; ++i) print NR, $i }' | sort | cmp - wanted

# --align-dev: the head with the lowest alignment error rate by tx-bleu.
for layer in 0 1; do
  for head in 0 1 2 3 0-3; do
    tx-attn-dump -m model --align --layers $layer --heads $head --tgt tgt src > links.$layer.$head
  done
done
cp links.1.2 gold
paste src tgt gold > dev
expect_status 0 tx-attn-dump -m model --align --align-dev dev --tgt tgt src
expect_stdout_file gold
expect_stderr 'tx-attn-dump: head 2 of layer 1 has the lowest alignment error rate on dev, 0.0'
[ "$(tx-bleu --metric aer --score-only gold < links.0.3 | sed 's/\..*//')" -gt 0 ] || fail 'heads agree'
expect_status 0 tx-attn-dump -m model --align --align-dev dev --layers 0 --tgt tgt src
best=$(for head in 0 1 2 3 0-3; do
  echo "$(tx-bleu --metric aer --score-only gold < links.0.$head) $head"
done | sort -n | head -n 1 | cut -d ' ' -f 2)
expect_stdout_file links.0.$best

paste src tgt links.0.0-3 > dev
expect_status 0 tx-attn-dump -m model --align --align-dev dev --tgt tgt src
expect_stdout_file links.0.0-3
expect_stderr 'tx-attn-dump: the mean of the heads of layer 0 has the lowest alignment error rate on dev, 0.0'

# Rows that read; words of subwords; the model's own translations.
expect_status 0 tx-attn-dump -m model --align --shift --tgt target in
expect_stdout_lines 3
expect_status 0 tx-attn-dump -m model --align --words in
expect_stdout_lines 3

expect_usage_error '--kinds encoder: alignments use cross attention; remove --kinds' \
  tx-attn-dump -m model --align --kinds encoder in
expect_usage_error '--align cannot be used with --heatmap' tx-attn-dump -m model --align --heatmap in
expect_usage_error '--digits cannot be used with --align' tx-attn-dump -m model --align --digits 3 in
expect_usage_error '--align-dev needs --align: add it' tx-attn-dump -m model --align-dev dev in
printf 'w5\tw6\n' > wrong
expect_status 1 tx-attn-dump -m model --align --align-dev wrong in
expect_stderr 'tx-attn-dump: wrong:1: expected three fields separated by tabs: source, target, links (paste(1) writes them)'
