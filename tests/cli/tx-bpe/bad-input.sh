# Bad input: the message names file and line, and no output is left.
seq 1 500 | sed 's/.*/the number & stands near the house/' > text
tx-bpe train --vocab-size 300 -o model text

refused() { # TEXT COMMAND...
  text=$1
  shift
  expect_status 1 "$@"
  expect_stderr_contains "tx-bpe: $text"
}
: > empty
head -c 4000 model > cut
mkdir folder
each_row refused tx-bpe <<'END'
encode -m none text => cannot read none: No such file or directory
encode -m . text => . is a directory without best.safetensors or last.safetensors
encode -m model none => cannot read none: No such file or directory
train -o out text none => cannot read none: No such file or directory
encode -m empty text => empty is empty
encode -m text text => text is neither a subword model nor a word list
encode -m cut text => cut: the subword model is truncated
train -o out empty => the text has no words
train -o none/out text => cannot write none/out: No such file
train -o folder missing => cannot write folder: Is a directory
END
expect_no_file out

printf 'the house\nx\377y\nz\376\n' > broken
expect_status 0 tx-bpe encode -m model broken
expect_stdout_lines 3
expect_stderr <<'EOF'
tx-bpe: warning: broken:2: not valid UTF-8; replaced by U+FFFD (the first of 2 such lines)
EOF
for command in 'encode -m model' 'train -o out'; do
  refused 'broken:2: not valid UTF-8' tx-bpe $command --strict broken
done
expect_no_file out
expect_status 1 tx-bpe encode --threads 3 -m model --strict broken
expect_stdout_lines 1

printf '\342\226\201the\n\342\226\201 nopiece\n' > pieces
expect_status 1 tx-bpe decode -m model pieces
expect_stdout 'the'
expect_stderr 'tx-bpe: pieces:2: "nopiece" is not a token of this vocabulary'
printf '\342\226\201the\r\n' > pieces
expect_status 1 tx-bpe decode -m model pieces
expect_stderr "tx-bpe: pieces:1: the line ends with CR LF: remove the CR with tr -d '\r'"
for id in 300 -1 x 4x 99999999999; do
  echo "$id" > ids
  expect_status 1 tx-bpe decode --ids -m model ids
  expect_stderr_contains 'tx-bpe: ids:1: '
done

each_row expect_usage_error tx-bpe <<'END'
 => missing command
encod => did you mean encode
encode text => missing option: -m FILE
train -o out --vocab-size 4 text => --vocab-size
END
expect_no_file out
