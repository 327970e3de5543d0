# An untrained model with byte tokens writes valid UTF-8 in every search; given translations are
# scored whatever their bytes.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
make_model model vocabulary bpe.model
make_model other vocabulary bpe.model seed 2
head -n 20 valid.en | tx-bpe encode -m bpe.model > in
tab=$(printf '\t')
for way in '--beam 1' '--beam 4' '--beam 30' '--beam 5 --nbest 5' '--max-extra 1' '--sample' \
  '--sample --nbest 4 --temperature 3' '--sample --top-k 20' '--sample --top-p 0.5' '-m other'; do
  expect_status 0 tx-decode -m model $way --pieces in
  last_stdout | sed "s/.*$tab//" > pieces
  cat pieces >> all
# An invalid sequence would be written as U+FFFD.
  tx-bpe decode -m bpe.model < pieces > text
  if grep -q "$(printf '\357\277\275')" text; then fail "$way: invalid UTF-8"; fi
done
[ "$(grep -c '<0x[C-F]' all)" -gt 100 ] || fail 'too few sequences of bytes'
sed 's/.*/<0xFF> <0xC3> <0xC3>/' in > given
expect_status 0 tx-decode -m model --pieces --tgt given in
expect_stdout_contains '<0xFF> <0xC3> <0xC3>'
expect_stdout_lacks inf

# A tab in an output is a space among columns, and itself in JSON.
printf 'a man\n' > in
printf 'ein\tmann\n' > given
expect_status 0 tx-decode -m model --tgt given --word-scores in
[ "$(last_stdout | cut -f 3)" = 'ein mann' ] || fail "$(last_stdout)"
[ "$(last_stdout | awk -F '\t' '{ print NF }')" = 4 ] || fail "$(last_stdout)"
expect_status 0 tx-decode -m model --tgt given --json in
expect_stdout_contains '"text":"ein\tmann"'
