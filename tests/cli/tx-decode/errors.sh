# Unusable models and invalid options.
make_model model
printf 'w5\n' > in
expect_status 1 tx-decode -m missing < in
expect_empty_stdout
expect_stderr_contains 'missing: No such file or directory'
: > empty
expect_status 1 tx-decode -m empty < in
expect_stderr_contains 'empty'
head -c 3000 model > short
expect_status 1 tx-decode -m short < in
expect_stderr_contains 'short'
mkdir folder
expect_status 1 tx-decode -m folder < in
expect_stderr_contains 'folder'
expect_status 1 tx-decode -m model missing
expect_stderr 'tx-decode: cannot read missing: No such file or directory'
expect_usage_error '--beam' tx-decode -m model --beam 0
expect_usage_error 'model' tx-decode
expect_usage_error '--status 1' tx-decode -m model --status 1
expect_usage_error 'descriptor 8 is not open' tx-decode -m model --status 8
expect_usage_error '--device cuda' tx-decode -m model --device cuda
if [ -e /dev/full ]; then
  expect_status 1 sh -c 'tx-decode -m model < in > /dev/full'
  expect_stderr_contains 'tx-decode: cannot write standard output: No space left on device'
fi
