# Small stacks (ulimit -s): threads get the stack they need, and nothing crashes.
[ "$TX_SANITIZE" != ON ] || exit 0 # their frames are larger
. "$TX_SOURCE/tests/cli/train.sh"
small_text
ulimit -s 64
for precision in fp32 auto; do
  expect_status 0 small_train --threads 2 --precision $precision -o run-$precision
  expect_status 0 tx-decode -m run-$precision --precision $precision --threads 2 --beam 8 valid.en
  expect_stdout_lines 40
  expect_status 0 tx-attn-dump -m run-$precision --precision $precision --threads 2 valid.en
done
expect_status 0 tx-avg -o average run-fp32
expect_status 0 tx-bpe train --vocab-size 300 -o again train.en train.de
expect_status 0 tx-bpe encode -m bpe.model --threads 2 train.en
expect_status 0 tx-bleu --metric bleu --metric chrf --metric ter --confidence --threads 2 valid.en \
  -i valid.de
