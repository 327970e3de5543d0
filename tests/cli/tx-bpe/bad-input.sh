# Bad input: the message names file and line, and no output is left.
seq 1 500 | sed 's/.*/the number & stands near the house/' > text
tx-bpe train --vocab-size 300 -o model text

refused() { # TEXT COMMAND...
  text=$1
  shift
  expect_status 1 "$@"
  expect_stderr_contains "tx-bpe: $text"
}
refused 'cannot read none: No such file or directory' tx-bpe encode -m none text
refused '. is a directory without best.safetensors or last.safetensors' tx-bpe encode -m . text
refused 'cannot read none: No such file or directory' tx-bpe encode -m model none
refused 'cannot read none: No such file or directory' tx-bpe train -o out text none
expect_no_file out
: > empty
refused 'empty is empty' tx-bpe encode -m empty text
refused 'text is neither a subword model nor a word list' tx-bpe encode -m text text
head -c 4000 model > cut
refused 'cut: the subword model is truncated' tx-bpe encode -m cut text
refused 'the text has no words' tx-bpe train -o out empty
expect_no_file out
refused 'cannot write none/out: No such file' tx-bpe train -o none/out text
mkdir folder
refused 'cannot write folder: Is a directory' tx-bpe train -o folder missing  # before it reads

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

expect_usage_error 'missing command' tx-bpe
expect_usage_error 'did you mean encode' tx-bpe encod
expect_usage_error 'missing option: -m FILE' tx-bpe encode text
expect_usage_error '--vocab-size' tx-bpe train -o out --vocab-size 4 text
expect_no_file out
