# --split: a long line is translated sentence by sentence.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
make_model model vocabulary bpe.model
printf 'Forty-two. Three!\nthree\n\nOne. Two. Three.\n' > in
printf 'Forty-two.\nThree!\nOne.\nTwo.\nThree.\n' > sentences
tx-decode -m model --max-extra 5 --min-length 1 --scores sentences > parts 2> /dev/null
expect_status 0 tx-decode -m model --max-extra 5 --min-length 1 --split 1 --scores in
expect_stdout_lines 4
last_stdout > joined
for lines in '1 1,2' '4 3,5'; do
  set -- $lines
  wanted=$(sed -n "$2p" parts | awk -F '\t' '{ sum += $2 } END { print sum }')
  sed -n "$1p" joined | awk -F '\t' -v wanted="$wanted" \
    '{ exit !(wanted < 0 && ($2 - wanted) ^ 2 < 1e-6) }' || fail "line $1: log P is not $wanted"
done
[ -z "$(sed -n 3p joined | cut -f 3)" ] || fail 'the blank line'
# Short lines and single sentences are not split.
tx-decode -m model --max-extra 5 --min-length 1 --scores in > whole 2> /dev/null
expect_status 0 tx-decode -m model --max-extra 5 --min-length 1 --split 1000 --scores in
expect_stdout_file whole
sed -n 2p whole | cmp - "$(sed -n 2p joined > two; echo two)"
# Parts that are too long are truncated with a warning.
expect_status 0 tx-decode -m model --max-length 3 --split 3 in
expect_stderr_contains 'in:1: '
expect_usage_error '--split cannot be used with --nbest' tx-decode -m model --split 9 --nbest 2 in
expect_usage_error '--split cannot be used with --check-invariance' \
  tx-decode -m model --split 9 --check-invariance in

# Every part has the tags of the line, and the parts are joined as text.
printf '>>fra<<\n' > symbols
tx-bpe train --vocab-size 320 --user-symbols symbols -o tagged.model train.en train.de 2> /dev/null
make_model tagged vocabulary tagged.model
printf '>>fra<< Forty-two.\343\200\200Three!  One.\n' > in
printf '>>fra<< Forty-two.\n>>fra<< Three!\n>>fra<< One.\n' > sentences
expect_status 0 tx-decode -m tagged --max-extra 9 --min-length 3 sentences
last_stdout > parts
printf '%s\343\200\200%s  %s\n' "$(sed -n 1p parts)" "$(sed -n 2p parts)" "$(sed -n 3p parts)" > wanted
expect_status 0 tx-decode -m tagged --max-extra 9 --min-length 3 --split 1 in
expect_stdout_file wanted
