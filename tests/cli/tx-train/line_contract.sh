# Unusual lines in training text: a warning per kind with its place, and a model; without text or
# vocabulary, an error.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
train() { # SRC TGT BPE OUT
  tx-train --src "$1" --tgt "$2" --vocab "$3" --layers 1 --d-model 32 --heads 2 --d-ff 64 \
    --batch-tokens 200 --threads 1 --precision fp32 --steps 3 -o "$4"
}
head -c 1000000 /dev/zero | tr '\0' t > long
{ cat train.en; printf 'the\377 house\nNUL \000 here\nCR LF\r\n\n'; cat long; printf '\nlast'; } > odd.en
{ cat train.de; printf 'das Haus\nNUL\nCR LF\r\nleer\nlang\nletzte\n'; } > odd.de
expect_status 0 train odd.en odd.de bpe.model run
expect_empty_stdout
expect_stderr_contains 'tx-train: warning: odd.en:401: not valid UTF-8; replaced by U+FFFD'
expect_stderr_contains 'tx-train: warning: odd.en:402: has a NUL byte'
expect_stderr_contains 'tx-train: warning: odd.de:403: ends with CR LF; the carriage return is kept as text'
expect_stderr_contains 'dropped 2 pairs of 406: 1 with an empty source, 1 longer than 250 tokens'
expect_file run/last.safetensors
expect_status 0 sh -c 'echo one | tx-decode -m run'

: > empty
expect_status 1 train empty empty bpe.model none
expect_stderr_contains empty
for broken in missing train.en empty; do
  expect_status 1 train train.en train.de $broken none
  expect_stderr_contains "$broken"
done
expect_status 1 train missing train.de bpe.model none
expect_stderr_contains 'cannot read missing: No such file'
expect_no_file none/last.safetensors
