# Options of encode: added tokens, truncation and the summary.
printf 'low lower lowest\nlow low low\n' > text
tx-bpe train --vocab-size 280 -o model text 2> /dev/null
expect_status 0 sh -c 'echo low | tx-bpe encode -m model --bos --eos'
expect_stdout '<s> ▁low </s>'
expect_status 0 sh -c 'printf "low\n\n" | tx-bpe encode -m model --ids --bos --eos > ids; cat ids'
[ "$(sed -n 2p ids)" = '2 3' ] || fail "an empty line should become 2 3"
expect_status 0 tx-bpe decode -m model --ids ids
expect_stdout 'low
'

printf 'low low low\nlow\n\nlow low low low\n' > lines
for threads in 1 3; do
  expect_status 0 tx-bpe encode -m model --threads $threads --max-length 2 --eos lines
  expect_stdout '▁low ▁low </s>
▁low </s>
</s>
▁low ▁low </s>'
  expect_stderr "tx-bpe: warning: lines:1: cut after 2 tokens (--max-length)\
 (the first of 2 such lines)"
done
expect_usage_error '--max-length' tx-bpe encode -m model --max-length 0 lines

# 2 + 1 + 1 words; the character that is not in the vocabulary is two bytes.
printf 'low low\n' > first
printf 'é\nlow\n' > second
for threads in 1 2 7; do
  expect_status 0 tx-bpe encode -m model --summary --threads $threads first second
  expect_stderr "tx-bpe: 3 lines, 4 words, 6 tokens: 1.500 per word, 33.333 % of them bytes, 0.000 % <unk>;\
 longest line second:1, 3 tokens"
done
expect_status 0 tx-bpe encode -m model --summary --max-length 1 first
expect_stderr_contains '1 line, 2 words, 1 token: 0.000 % of them bytes'
expect_status 0 tx-bpe encode -q -m model --summary /dev/null # asked for, so -q does not hide it
expect_stderr 'tx-bpe: 0 lines, 0 words, 0 tokens: 0.000 per word, 0.000 % of them bytes, 0.000 % <unk>'

# Options without effect are errors.
expect_usage_error '--seed needs --bpe-dropout' tx-bpe encode -m model --seed 2 lines
expect_usage_error '--merges needs --codes' tx-bpe encode -m model --merges 2 lines
expect_usage_error '--strict needs --counts' tx-bpe vocab -m model --strict
expect_usage_error '--vocabulary has an empty value' tx-bpe encode -m model --vocabulary= lines
expect_status 0 tx-bpe encode -m model --threads 0 --bpe-dropout 0.1 --seed 18446744073709551615 lines
