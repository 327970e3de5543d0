# A model name without a slash stands for share/tx/NAME.safetensors of the installation.
printf 'w5 w6\n\nw7' > in
make_model one.safetensors seed 1
make_model two.safetensors seed 2
expect_status 0 tx-decode -m one.safetensors in
cp "$TX_LAST/stdout" one
expect_status 0 tx-decode -m two.safetensors in
cp "$TX_LAST/stdout" two
! cmp -s one two || fail "two models with the same translations"

# installation LIBRARIES: links a tree; moved TOOL...: runs a tool with its libraries.
installation() {
  rm -rf tree
  mkdir -p "tree/$1" tree/share/tx
  ln -s "$TX_BUILD"/lib/* "tree/$1"
  cp one.safetensors tree/share/tx/demo.safetensors
  libraries=$PWD/tree/$1
}
moved() { env LD_LIBRARY_PATH="$libraries" "$@"; }
for directory in lib/x86_64-linux-gnu lib; do
  installation $directory
  expect_status 0 moved tx-decode -m demo in
  expect_stdout_file one
done

# Every tool that reads a model.
expect_status 0 moved tx-attn-dump -m demo in
expect_stdout_contains 'share/tx/demo.safetensors'
expect_status 0 moved tx-avg -q demo -o same.safetensors
expect_status 0 moved tx-convert --to ctranslate2 demo -o converted
expect_status 0 moved tx-train --describe --init demo --src in --tgt in
expect_status 0 tx-bpe encode -m one.safetensors in
cp "$TX_LAST/stdout" tokens
expect_status 0 moved tx-bpe encode -m demo in
expect_stdout_file tokens

# Files and directories of that name come first.
cp two.safetensors demo
expect_status 0 moved tx-decode -m demo in
expect_stdout_file two
rm demo
mkdir demo
cp two.safetensors demo/best.safetensors
expect_status 0 moved tx-decode -m demo in
expect_stdout_file two
rm -r demo
ln -s gone demo
expect_status 1 moved tx-decode -m demo in
expect_stderr 'tx-decode: cannot read demo: No such file or directory (a link to gone, which does not exist)'
rm demo

# A name of another form is a path.
for name in ./demo tx/demo demo.safetensors; do
  expect_status 1 moved tx-decode -m $name in
  expect_empty_stdout
  expect_stderr "tx-decode: cannot read $name: No such file or directory"
done
expect_status 1 moved tx-decode -m dmeo in
expect_stderr "tx-decode: cannot read dmeo: No such file or directory ($PWD/tree/share/tx has no model of that name either)"
