# Models that cannot be averaged together, or are invalid: an error that says why; nothing is
# written.
. "$TX_SOURCE/tests/cli/small_run.sh"
write_text train 60
train_small run
cp run/model-1.safetensors out

refused() { # TEXT FILE...
  text=$1
  shift
  expect_status 1 tx-avg -o out "$@"
  expect_empty_stdout
  expect_stderr_contains "$text"
  cmp out run/model-1.safetensors || fail "the output was changed"
}
a=run/model-1.safetensors

train_small wide --d-model 32
refused 'wide/last.safetensors cannot be averaged with run/model-1.safetensors: its d_model is 32' \
  $a wide
expect_stderr_contains 'its tensor embedding.weight is F32 [17, 32] instead of F32 [17, 16]'
train_small deep --decoder-layers 2
refused 'its decoder_layers is 2 instead of 1' $a deep
expect_stderr_contains 'tensor decoder.layers.1.'
train_small post --norm-position post
refused 'its norm is "post" instead of "pre"; its tensor encoder.norm.weight is missing' $a post
train_small relu --activation relu
refused 'its activation is "relu" instead of "gelu"' $a relu
expect_stderr_lacks 'its tensor'

# A vocabulary of the same size with other words.
sed 's/w7/x7/g' train.src > src && mv src train.src
sed 's/w7/x7/g' train.tgt > tgt && mv tgt train.tgt
train_small words
refused 'words/last.safetensors cannot be averaged' $a words
expect_stderr_contains 'its source vocabulary differs'
expect_stderr_lacks 'instead of'

refused 'cannot read none: No such file' $a none
refused 'deep/state-4.safetensors' $a deep/state-4.safetensors
refused 'train.src' $a train.src
mkdir empty
ln -s model-9.safetensors empty/last.safetensors
refused 'cannot read empty/last.safetensors: No such file or directory (a link to model-9' \
  $a empty
rm empty/last.safetensors
refused 'empty is a directory without best.safetensors or last.safetensors' $a empty
head -c 9000 $a > cut
refused 'cut' $a cut
size=$(wc -c < $a)
{ head -c $((size - 3000)) $a; printf X; tail -c 2999 $a; } > changed
[ "$(wc -c < changed)" -eq "$size" ] || fail "the edited file has another size"
refused 'changed is damaged' $a changed

expect_status 1 tx-avg -o none/out $a
expect_stderr_contains 'cannot write none/out: No such file'
expect_status 1 tx-avg -o empty $a
expect_stderr_contains 'cannot write empty: Is a directory'
if [ -w /dev/full ]; then
  expect_status 1 tx-avg -q -o /dev/full $a
  expect_stderr_contains 'cannot write /dev/full: No space left on device'
fi
: > nothing
refused 'nothing' $a nothing
printf 'a\377b\000c\r\n' > bytes
refused 'bytes' $a bytes
head -c 1000000 /dev/zero | tr '\0' x > line
refused 'line' $a line
