# Text that becomes <unk> is counted, named and has a state; --strict makes it an error.
make_model model
printf 'w5\nw6 nothing w7\n\nw5 more nothing\n' > in
expect_status 0 tx-decode -m model --status records in
expect_stdout_lines 4
expect_stderr_contains "tx-decode: warning: in:2: 'nothing' is not in the vocabulary and becomes <unk> (the first of 2 such lines)"
sed 1d records | cut -f 2 | sed 's/,.*//; s/maximum/ok/; s/loop/ok/' | tr '\n' ' ' > states
[ "$(cat states)" = 'ok unknown empty unknown ' ] || fail "$(cat states)"
expect_status 0 tx-decode -m model --json in
[ "$(last_stdout | grep -c '"states":\[[^]]*"unknown"')" -eq 2 ] || fail 'the states'
expect_status 1 tx-decode -m model --strict in
expect_stdout_lines 1
expect_stderr "tx-decode: in:2: 'nothing' is not in the vocabulary and becomes <unk>; correct it, or omit --strict"
printf 'w5 <unk>\n' > known
expect_status 0 tx-decode -m model --strict known
expect_stderr_lacks vocabulary

# Prefixes, given translations and the other form of input.
printf 'w5\tw9 other w10\n' > columns
expect_status 0 tx-decode -m model --prefix --status records columns
expect_stderr_contains "columns:1: 'other' is not in the vocabulary and becomes <unk>"
grep -q "$(printf '^1\tunknown')" records || fail "$(cat records)"
printf 'w5\n' > text
printf 'other\n' > given
expect_status 0 tx-decode -m model --tgt given text
expect_stderr_contains "given:1: 'other' is not in the vocabulary"
expect_status 1 tx-decode -m model --strict --perplexity --tgt given text
expect_stderr_contains "given:1: 'other' is not in the vocabulary"
printf 'w5 <unk>\n' > pieces
expect_status 0 tx-decode -m model --pieces pieces
expect_stderr_contains "pieces:1: the line has the token <unk>"

# Other kinds of models, and tx-attn-dump.
make_model decoder kind decoder
expect_status 0 tx-decode -m decoder --max-new 3 in
expect_stderr_contains "in:2: 'nothing' is not in the vocabulary"
expect_status 0 tx-decode -m decoder --max-new 3 --beam 1 --stream in
expect_stderr_contains "in:2: 'nothing' is not in the vocabulary"
expect_status 0 tx-decode -m decoder --perplexity in
expect_stderr_contains "in:2: 'nothing' is not in the vocabulary"
make_model encoder kind encoder
printf 'w5 <mask> nothing\n' > masked
expect_status 0 tx-decode -m encoder masked
expect_stderr_contains "masked:1: 'nothing' is not in the vocabulary"
expect_status 1 tx-decode -m encoder --strict masked
expect_status 0 tx-attn-dump -m model --align in
expect_stderr_contains "in:2: 'nothing' is not in the vocabulary"
expect_status 1 tx-attn-dump -m model --align --strict in
# With byte fallback nothing is unknown.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
make_model bytes vocabulary bpe.model
printf 'Ω 😀\n' > in
expect_status 0 tx-decode -m bytes --strict in
expect_stderr_lacks vocabulary
