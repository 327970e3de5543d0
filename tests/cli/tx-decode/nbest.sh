# The n-best list: line, rank, score, log P, text.
make_model model
printf 'w5 w6\n\nw9\n' > in
expect_status 0 tx-decode -m model --nbest 3 --beam 5 < in
expect_stdout_lines 7
last_stdout > list
awk -F '\t' 'NF != 5 { exit 1 }' list || fail 'not five columns'
[ "$(cut -f 1,2 list | tr '\t\n' ': ')" = '1:1 1:2 1:3 2:1 3:1 3:2 3:3 ' ] || fail 'line or rank'
[ "$(sed -n 4p list)" = "$(printf '2\t1\t0.000000\t0.000000\t')" ] || fail 'the blank line'
awk -F '\t' '$2 > 1 && $3 > last { exit 1 } { last = $3 }' list || fail 'not the best first'
# --nbest 1 has the format of the list; its text is the plain output, its scores those of --scores.
expect_status 0 tx-decode -m model --nbest 1 --beam 5 < in
expect_stdout_lines 3
awk -F '\t' '$2 == 1 { print $3 "\t" $4 "\t" $5 }' list > scores
expect_status 0 tx-decode -m model --scores --beam 5 < in
expect_stdout_file scores
cut -f 3 scores > plain
expect_status 0 tx-decode -m model --beam 5 < in
expect_stdout_file plain
expect_usage_error '--nbest 9 needs a beam at least as wide: give --beam 9 or --nbest 4' \
  tx-decode -m model --nbest 9 < in

# At the maximum length, only finished outputs are listed; without any, one unfinished output.
tx-decode -m model --beam 8 --nbest 8 --max-extra 0 --ids > list <<'END'
5
5 6
7 8 9
10 11 12 13
END
awk -F '\t' '$2 > 1 && $3 > last { exit 1 } { last = $3 }' list || fail 'not the best first'
[ "$(cut -f 1 list | sort -u | tr '\n' ' ')" = '1 2 3 4 ' ] || fail 'a line has no output'

# A text that several sequences of tokens make is printed once, with its best score; samples may be
# equal.
printf 'the the the cat\n' > text
tx-bpe train --vocab-size 300 -o bpe.model text 2> /dev/null
make_model subwords vocabulary bpe.model
for token in '▁the' '▁' the th t h e; do printf '\t%s\t0.5\n' "$token"; done > shortlist
list='tx-decode -m subwords --shortlist shortlist --precision fp32 --max-extra 3'
for way in '--beam 40 --nbest 40' '--beam 40 --nbest 10' '--beam 40 --nbest 40 --diversity 0.5 --groups 4'; do
  # shellcheck disable=SC2086
  expect_status 0 $list $way text
  last_stdout | cut -f 5 | sort > texts
  sort -u texts > different
  expect_same different texts
  [ "$(wc -l < texts)" -ge 5 ] || fail "$way: too few texts"
  last_stdout | awk -F '\t' '$2 != NR || ($2 > 1 && $3 > last) { exit 1 } { last = $3 }' || fail "$way: order"
done
expect_status 0 $list --sample --nbest 200 --top-k 2 text
expect_stdout_lines 200
