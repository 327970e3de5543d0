# Unreadable files.
printf 'a\n' > hyp
mkdir folder
expect_status 1 tx-bleu missing < hyp
expect_stderr 'tx-bleu: cannot read missing: No such file or directory'
expect_status 1 tx-bleu folder < hyp
expect_stderr 'tx-bleu: cannot read folder: Is a directory'
expect_status 1 tx-bleu hyp -i missing
expect_stderr 'tx-bleu: cannot read missing: No such file or directory'
if [ -e /dev/full ]; then
  expect_status 1 sh -c 'tx-bleu hyp < hyp > /dev/full'
  expect_stderr_contains 'tx-bleu: cannot write standard output: No space left on device'
fi
