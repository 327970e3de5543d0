# label: peer
# The command for GNU parallel in examples/README.md keeps all lines in order.
command -v parallel > /dev/null || skip 'no GNU parallel'
parallel --version 2> /dev/null | grep -q '^GNU parallel' || skip 'parallel is not GNU parallel'
make_model model layers 1
awk 'BEGIN { for (i = 0; i < 500; ++i) print "w" 4 + i % 7, "w" 5 + i % 11, i % 9 ? "" : "w7 w8" }' \
  > big.en
tx-decode -q -m model < big.en > whole
line=$(sed -n 's/^    \(parallel .*\) > .*/\1/p' "$TX_SOURCE/examples/README.md")
[ -n "$line" ] || fail 'examples/README.md has no such command'
HOME=$PWD sh -c "$(echo "$line" | sed 's/--block [0-9]*M/--block 1k/')" > out 2> messages
expect_same whole out
