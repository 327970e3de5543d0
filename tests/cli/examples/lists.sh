# Lists of examples/paper: tx-train and tx-decode accept every line; names and options are unique.
printf 'w5 w6\nw6 w7\n' > text
tx-bpe train --type words -o words text
make_model model layers 1
for list in "$TX_SOURCE"/examples/paper/*.list; do
  grep -v '^#' "$list" | grep . > lines
  expect_file lines
  cut -d '|' -f 1 lines | sed 's/ *$//' | sort | uniq -d > twice
  [ ! -s twice ] || fail "$list: duplicate names: $(cat twice)"
  cut -d '|' -f 2- lines | sed 's/^ *//; s/ *$//' | sort | uniq -d > twice
  [ ! -s twice ] || fail "$list: duplicate options: $(cat twice)"
  while IFS='|' read -r name options decode; do
    # shellcheck disable=SC2086  # several words
    expect_status 0 tx-train --describe --preset tiny $options --src text --tgt text --vocab words
    # shellcheck disable=SC2086
    expect_status 0 sh -c 'tx-decode -m model "$@" < text' "$name" $decode
  done < lines
done

# The rows of table3_base.list have the paper's numbers of parameters, in millions, with a
# vocabulary of 41,100, which gives its base model 65 million.
awk 'BEGIN { for (i = 0; i < 41096; ++i) print "w" i }' > many
tx-bpe train --type words -o many.words many
while read -r millions name; do
  options=$(sed -n "s/^$name |//p" "$TX_SOURCE/examples/paper/table3_base.list")
  # shellcheck disable=SC2086
  expect_status 0 tx-train --describe --preset base $options --src text --tgt text --vocab many.words
  last_stdout | awk -v name="$name" -v millions="$millions" '
    $1 == "total" && NF == 2 && !seen++ { at = ($2 - millions * 1e6) / 1e6 }
    END { if (!seen || at > 0.5 || at < -0.5) { print name ": off by " at; exit 1 } }' ||
    fail "the paper has $millions million parameters for $name"
done << 'END'
65 base
58 B d_k 16
60 B d_k 32
36 C 2 layers
50 C 4 layers
80 C 8 layers
28 C d_model 256
168 C d_model 1024
53 C d_ff 1024
90 C d_ff 4096
END
