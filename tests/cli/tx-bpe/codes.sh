# encode --codes applies the codes of subword-nmt; decode --separator inverts it.
printf '#version: 0.2\nl o\nlo w\nlow e\nlowe r</w>\nl o</w>\n' > codes
printf 'lower low\nslow é lo\n\n  lower  flow \r\n' > text
printf 'lower lo@@ w\ns@@ lo@@ w é lo\n\n  lower f@@ lo@@ w \r\n' > wanted
for threads in 1 2 7; do
  expect_status 0 tx-bpe encode --codes codes --threads $threads text
  expect_stdout_file wanted
  expect_stderr "tx-bpe: warning: text:4: ends with CR LF; the carriage return is kept as text: remove it with tr -d '\r'"
done
printf 'lower low\nslow é lo\n\n  lower flow \r\n' > joined
expect_status 0 tx-bpe decode --separator @@ wanted
expect_stdout_file joined
expect_status 0 sh -c 'echo "lower low" | tx-bpe encode --codes codes --separator "##" --merges 2'
expect_stdout 'low## e## r lo## w'
expect_status 0 sh -c 'echo "lower low" | tx-bpe encode --codes codes --summary'
expect_stderr "tx-bpe: 1 line, 2 words, 3 tokens: 1.500 per word, 0.000 % of them bytes, 0.000 % <unk>;\
 longest line standard input:1, 3 tokens"

# Subwords that are not in the vocabulary are split again.
printf 'low@@ 5\nlo@@ 2\n' > vocabulary
expect_status 0 sh -c 'echo "lower low" | tx-bpe encode --codes codes --vocabulary vocabulary'
expect_stdout 'low@@ e@@ r lo@@ w'
expect_status 0 sh -c 'echo "lower low" |
  tx-bpe encode --codes codes --vocabulary vocabulary --vocabulary-threshold 3'
expect_stdout 'low@@ e@@ r l@@ o@@ w'

# A merge that gives </w> alone ends the splitting.
printf '< /w>\na b\nab </w>\n' > circle
printf 'a@@ 1\nb@@ 1\n' > letters
expect_status 0 sh -c 'echo "ab" | tx-bpe encode --codes circle --vocabulary letters'
expect_stdout 'a@@ b@@ '

# Glossaries are not split.
expect_status 0 sh -c 'echo "wow slower <n12>lower" |
  tx-bpe encode --codes codes --glossaries wow --glossaries "<n\d+>"'
expect_stdout 'wow s@@ lower <n12>@@ lower'

long=$(printf '(?:%.0s' $(seq 1500))a$(printf ')%.0s' $(seq 1500))
expect_usage_error 'too deeply' tx-bpe encode --codes codes --glossaries "$long"
aaa=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
expect_status 1 sh -c "printf 'low\n${aaa}b\n' | tx-bpe encode --codes codes --glossaries '(?:a+)+[cd]'"
expect_stdout 'lo@@ w'
expect_stderr "tx-bpe: standard input:2: --glossaries '(?:a+)+[cd]' takes too long in a word of 41\
 bytes: avoid repetitions within repetitions"

# As in apply-bpe, the last lines may be empty and the version may end in zeros.
printf '#version: 0.2.0\nl o\nlo w\nlow e\nlowe r</w>\nl o</w>\n\n\n' > ended
expect_status 0 tx-bpe encode --codes ended text
expect_stdout_file wanted

# A vocabulary for another separator, or of something else.
printf 'lo## 2\nlower 3\nlow 1\nlo 7\n' > other
expect_status 1 tx-bpe encode --codes codes --vocabulary other text
expect_stderr 'tx-bpe: other: no entry ends in @@; give the --separator that its tokens have'
expect_status 0 tx-bpe encode --codes codes --vocabulary other --separator '##' text
printf 'house 5\ngarden 2\nlower 1\n' > other
expect_status 1 tx-bpe encode --codes codes --vocabulary other text
expect_stderr_contains 'tx-bpe: other: 2 of 3 entries are not tokens of this vocabulary; expected'

# Dropout depends on the seed as with a model.
seq 1 2000 | sed 's/.*/lower & slow/' > many
tx-bpe encode --codes codes --bpe-dropout 0.3 --threads 1 many > dropped
for threads in 2 3 7; do
  expect_status 0 tx-bpe encode --codes codes --bpe-dropout 0.3 --threads $threads many
  expect_stdout_file dropped
done
[ "$(cut -d' ' -f 1 dropped | sort -u | wc -l)" -gt 3 ] || fail "dropout changed nothing"
expect_status 0 tx-bpe decode --separator @@ dropped
expect_stdout_file many

refused() { # TEXT CODES
  printf "$2" > bad
  expect_error "tx-bpe: $1" tx-bpe encode --codes bad text
}
each_row refused <<'END'
'#version: 0.2\na b 7\n' => bad:2: expected two tokens separated by one space, not 'a b 7'; is this a file of subword-nmt learn-bpe?
'#version: 0.3\na b\n' => bad:1: codes of version '0.3' are not supported; 0.1 and 0.2 are
'#version: 0.2\n\na b\n' => bad:2: expected two tokens separated by one space, not ''; is this a file of subword-nmt learn-bpe?
'#version: 0.20\na b\n' => bad:1: codes of version '0.20' are not supported; 0.1 and 0.2 are
'the 1000\n, 900\nof 70\na 5\n' => bad: 3 lines of 4 merge no characters or earlier merges; expected codes of subword-nmt learn-bpe (tokens with their counts are a --vocabulary)
'#version: 0.2\n\304\240 t\nh e\n' => bad has byte-level merges, as those of GPT-2, which are not supported
'#version: 0.2\na \377\n' => bad:2: not valid UTF-8
'' => bad has no merges; expected codes of subword-nmt learn-bpe
END
expect_error 'cannot read none' tx-bpe encode --codes none text
each_row expect_usage_error tx-bpe <<'END'
encode -m model --codes codes text => --model cannot be used with --codes
encode text => missing option: -m FILE, or --codes FILE
encode --codes codes --ids text => --ids cannot be used with --codes: codes have no ids; take a model (-m)
encode -m model --glossaries a text => --glossaries needs --codes
encode --codes codes --glossaries '(a)' text => use (?:...)
decode text => missing option: -m FILE, or --separator
decode --separator @@ --ids text => --separator cannot be used with --ids
END
