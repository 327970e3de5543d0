# Every line of the lists of examples/paper is a model that tx-train knows, and a search that tx-decode
# knows; no two lines have one name or the same options.
printf 'w5 w6\nw6 w7\n' > text
tx-bpe train --type words -o words text
make_model model layers 1
for list in "$TX_SOURCE"/examples/paper/*.list; do
  grep -v '^#' "$list" | grep . > lines
  expect_file lines
  cut -d '|' -f 1 lines | sed 's/ *$//' | sort | uniq -d > twice
  [ ! -s twice ] || fail "$list: names that stand there twice: $(cat twice)"
  cut -d '|' -f 2- lines | sed 's/^ *//; s/ *$//' | sort | uniq -d > twice
  [ ! -s twice ] || fail "$list: options that stand there twice: $(cat twice)"
  while IFS='|' read -r name options decode; do
    # shellcheck disable=SC2086  # several words
    expect_status 0 tx-train --describe --preset tiny $options --src text --tgt text --vocab words
    # shellcheck disable=SC2086
    expect_status 0 sh -c 'tx-decode -m model "$@" < text' "$name" $decode
  done < lines
done
