# A file larger than ulimit -f is a write error, as on a full disk: a message and status 1, no
# SIGXFSZ; files that were complete are kept.
awk 'BEGIN { for (i = 0; i < 20000; ++i) print "w" i % 50 }' > text
tx-bpe train --type words -o words text 2> /dev/null
large='File too large (the limit of ulimit -f is reached)'
(
  ulimit -f 8
  expect_status 1 sh -c 'exec tx-bpe encode -m words --ids text > pieces'
  expect_stderr "tx-bpe: cannot write standard output: $large"
  [ -s pieces ] || fail "nothing was written"
)
awk 'BEGIN { for (i = 0; i < 300; ++i) printf "longword%d ", i }' > more
cp words before
(
  ulimit -f 1
  expect_status 1 tx-bpe train --type words -o words more
  expect_stderr_contains "tx-bpe: cannot write words: $large"
  expect_same before words
)
. "$TX_SOURCE/tests/cli/train.sh"
small_text
small_train -o run --steps 3 2> /dev/null
# The message has the name given by the user, not a temporary one.
(
  ulimit -f 8
  expect_status 1 tx-convert --to ctranslate2 -o folder run
  expect_stderr "tx-convert: cannot write folder/model.bin: $large"
  expect_no_file folder
  expect_status 1 tx-attn-dump -m run --format safetensors -o attention train.en
  expect_stderr "tx-attn-dump: cannot write attention: $large"
  expect_no_file attention
)
blocks=$(($(wc -c < run/last.safetensors) / 512)) # of the model; the state is larger
(
  ulimit -f $((blocks * 3 / 2))
  expect_status 1 small_train --steps 6 -o stopped
  expect_stderr_contains "$large"
)
[ -z "$(find . -name '*.tmp')" ] || fail "temporary files left:  $(find . -name '*.tmp')"

# Commands of --valid-command get the signal as usual.
small_train -o told --steps 1 --valid-command "ulimit -f 1; head -c 9999 /dev/zero > zeros; echo \$? > status; echo 1" 2> /dev/null
[ "$(cat status)" -gt 128 ] || fail "status $(cat status) instead of the signal's"

# /dev/full is not a disk: the message gives no free space.
expect_status 1 sh -c 'exec tx-bpe encode -m words text > /dev/full'
expect_stderr "tx-bpe: cannot write standard output: No space left on device"

# A file system without inodes, where this test may mount one, is named as such.
mkdir mounted
unshare -m sh -c 'mount -t tmpfs -o nr_inodes=2,size=1m none mounted && : > mounted/one &&
  tx-bpe train --type words -o mounted/words text' 2> log || true
if ! grep -q 'unshare:\|mount:' log; then
  grep -q 'cannot write mounted/words: No space left on device (no inodes are left on this file system; delete some files)' \
    log || fail "$(cat log)"
fi
