# Unusual lines through every command of tx-bpe: N lines in, N lines out, warnings with line
# numbers, no crash.
seq 1 500 | sed 's/.*/the number & stands near the house/' > text
tx-bpe train --vocab-size 300 -o model text
printf '#version: 0.2\nt h\nth e</w>\n' > codes

# The commands; each reads a file or standard input.
ways() {
  cat <<'END'
encode -m model
encode --ids --bpe-dropout 0.1 -m model
encode --codes codes
decode --separator @@
END
}

printf 'the\377 house\nNUL \000 here\nCR LF\r\n\nlast' > odd
ways > list
while read -r way; do
  # shellcheck disable=SC2086  # a list of words
  expect_status 0 tx-bpe $way odd
  expect_stdout_lines 5
  expect_stderr <<'END'
tx-bpe: warning: odd:1: not valid UTF-8; replaced by U+FFFD
tx-bpe: warning: odd:2: has a NUL byte; is this a text file?
tx-bpe: warning: odd:3: ends with CR LF; the carriage return is kept as text: remove it with tr -d '\r'
END
  [ "$(last_stdout | sed -n 4p)" = '' ] || fail "an empty line is not empty: $way"
  expect_status 0 tx-bpe $way /dev/null
  expect_empty_stdout
  expect_empty_stderr
  expect_status 1 tx-bpe $way --strict odd
  expect_stderr_contains 'tx-bpe: odd:1: not valid UTF-8; repair it'
  expect_status 1 tx-bpe $way missing
  expect_stderr 'tx-bpe: cannot read missing: No such file or directory'
  status=0
  (yes 'the house' | tx-bpe $way || echo "status $?" >&2) 2> err | head -1 > out
  [ -s out ] || fail "no line: $way"
  grep -v '^status 141$' err > rest || true
  [ ! -s rest ] || fail "$(cat rest)"
done < list
expect_status 0 tx-bpe vocab -m model --counts odd
expect_stderr_contains 'tx-bpe: warning: odd:2: has a NUL byte'
expect_status 0 tx-bpe train --vocab-size 300 -o other text odd
expect_stderr_contains 'tx-bpe: warning: odd:3: ends with CR LF'

# Lines of a million bytes: one word, and short words.
head -c 1000000 /dev/zero | tr '\0' t > long
head -c 1000000 /dev/zero | tr '\0' t | sed 's/tttt/the /g' >> long
printf '\n' >> long
while read -r way; do
  # shellcheck disable=SC2086
  expect_status 0 tx-bpe $way long
  expect_stdout_lines 1
done < list
for ids in '' --ids; do
  expect_status 0 sh -c "tx-bpe encode $ids -m model long | tx-bpe decode $ids -m model"
  expect_stdout_file long
done

# Invalid tokens and ids: the message has the line and the value.
printf '4 5\n4 300 5\n' > ids
expect_status 1 tx-bpe decode --ids -m model ids
expect_stderr 'tx-bpe: ids:2: id 300 is outside the vocabulary of 300 tokens'
for threads in 1 3; do
  expect_status 1 tx-bpe decode --threads $threads --ids -m model - < ids
  expect_stderr 'tx-bpe: standard input:2: id 300 is outside the vocabulary of 300 tokens'
  expect_stdout_lines 1
done

# Unreadable models.
for way in encode decode vocab; do
  expect_status 1 tx-bpe $way -m missing < text
  expect_stderr_contains "tx-bpe: cannot read missing: "
  expect_empty_stdout
  expect_status 1 tx-bpe $way -m . < text
  expect_stderr_contains "tx-bpe: . is a directory without best.safetensors or last.safetensors"
  expect_empty_stdout
done
