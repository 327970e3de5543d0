# examples/reverse.sh: sizes, reversed targets, no duplicates.
expect_status 0 sh "$TX_SOURCE/examples/reverse.sh" data
expect_empty_stdout
for part in train:2000 valid:100 test:500; do
  name=${part%:*}
  [ "$(wc -l < data/$name.src)" -eq "${part#*:}" ] || fail "$name has a wrong size"
  awk '{ for (i = NF; i > 1; --i) printf "%s ", $i; print $1 }' data/$name.src > backwards
  expect_same backwards data/$name.tgt
done
cat data/*.src | sort | uniq -d > twice
[ ! -s twice ] || fail "duplicate sequences"
expect_status 0 awk 'NF < 3 || NF > 8 || /[^0-9 ]/ { print }' data/train.src
expect_empty_stdout
sh "$TX_SOURCE/examples/reverse.sh" again
expect_same data/train.src again/train.src
expect_status 2 sh "$TX_SOURCE/examples/reverse.sh"
