# Minimum Bayes risk over samples: order and scores by the metric.
make_model model
printf 'w5 w6 w7\n\nw8 w9\n' > in
draw='tx-decode -m model --sample --temperature 0.6 --max-extra 4 --seed 5'
$draw --nbest 12 in > drawn
for metric in bleu chrf; do
  expect_status 0 $draw --mbr $metric --samples 12 --nbest 12 in
  last_stdout > ranked
  awk -F '\t' '$1 == line && $3 > last { exit 1 } { line = $1; last = $3 }' ranked || fail 'order'
  cut -f 1,5 drawn | sort -u > wanted
  cut -f 1,5 ranked | sort > found
  expect_same wanted found
# The first sample of line 1: its mean score against the other samples.
  first=$(sed -n 1p ranked | cut -f 5)
  awk -F '\t' -v first="$first" '$1 == 1 && !($5 == first && !seen++) { print $5 }' drawn > others
  awk -v first="$first" '{ print first }' others > hyps
  tx-bleu --metric $metric --sentence --force --score-only --width 6 others -i hyps > scores
  awk -v got="$(sed -n 1p ranked | cut -f 3)" '{ sum += $1 } END { d = sum / NR - got
    exit !(NR == 11 && d < 1e-4 && d > -1e-4) }' scores || fail "$metric: not the mean score"
  expect_status 0 $draw --mbr $metric --samples 12 in
  awk -F '\t' '$2 == 1 { print $5 }' ranked > best
  expect_stdout_file best
  expect_status 0 $draw --mbr $metric --samples 12 --threads 3 --batch-tokens 1 in
  expect_stdout_file best
done
expect_usage_error '--mbr needs --sample' tx-decode -m model --mbr bleu in
expect_usage_error '--samples needs --mbr' tx-decode -m model --sample --samples 5 in
expect_usage_error '--nbest 9 needs at least as many --samples: give --samples 9' \
  tx-decode -m model --sample --mbr bleu --samples 5 --nbest 9 in
