# --shortlist: outputs have only tokens of their source's list, whatever the other lines.
make_model model layers 1
make_model other layers 1 seed 2
awk 'BEGIN { for (i = 0; i < 40; ++i) { for (j = 0; j < i % 9; ++j)
  printf "w%d ", 4 + (i * 31 + j * 17) % 56; print "" } }' > in
# Tokens n to n + 5 for source token n; tokens 4 to 8 for every source.
awk 'BEGIN { for (i = 4; i < 9; ++i) printf "\tw%d\t%g\n", i, 0.9 - i / 20
  for (n = 4; n < 60; ++n) for (i = 0; i < 6; ++i)
    printf "w%d\tw%d\t%g\n", n, 4 + (n - 4 + i) % 56, 0.5 - i / 20 }' > list

# keeps_to FIRST BEST: whether every line of standard input has only tokens of its list.
keeps_to() {
  awk -v first="$1" -v best="$2" '
    FILENAME == "list" {
      split($0, column, "\t")
      if (count[column[1]]++ < (column[1] == "" ? first : best)) may[column[1], column[2]] = 1
      next
    }
    FILENAME == "in" { source[FNR] = $0; next }
    { sub(/.*\t/, "")
      for (i = 1; i <= NF; ++i) {
        found = ("", $i) in may
        n = split(source[FNR], words, " ")
        for (j = 1; j <= n; ++j) found = found || (words[j], $i) in may
        if (!found) { print "line " FNR ": " $i; exit bad = 1 }
      } }
    END { exit bad || FNR != 40 }' list in -
}
tx-decode -m model --max-extra 9 in > free
! keeps_to 5 6 < free > /dev/null || fail 'the lists change nothing'
for way in '' '--precision int8' '--precision bf16' '--beam 1' '--beam 30' '--sample' '-m other' \
  '-m other --sample' '--diversity 0.5' '--no-repeat 2 --min-length 4' '--threads 1'; do
  expect_status 0 tx-decode -m model $way --max-extra 9 --shortlist list in
  last_stdout | keeps_to 5 6 > bad || fail "$way: $(cat bad)"
  expect_status 0 tx-decode -m model $way --max-extra 9 --shortlist list --shortlist-first 2 \
    --shortlist-best 3 in
  last_stdout | keeps_to 2 3 > bad || fail "$way, 2 and 3: $(cat bad)"
  expect_status 0 tx-decode -m model $way --max-extra 9 --shortlist list --check-invariance in
  expect_stdout_contains 'verdict: translations and scores are batch-invariant'
done
# Lists of one token and </s>: fewer than a beam needs.
expect_status 0 tx-decode -m model --max-extra 3 --beam 8 --nbest 8 --shortlist list \
  --shortlist-first 0 --shortlist-best 1 --check-invariance in
expect_stdout_contains 'verdict: translations and scores are batch-invariant'

# A list of all tokens changes nothing.
awk 'BEGIN { for (i = 4; i < 60; ++i) printf "\tw%d\t0.01\n", i }' > all
for precision in fp32 bf16 int8; do
  tx-decode -m model --precision $precision --max-extra 9 in > free
  expect_status 0 tx-decode -m model --precision $precision --max-extra 9 --shortlist all in
  expect_stdout_file free
done

# Required tokens are added to the list.
printf 'w4 w5\tw30 w31\nw9\tw40\n' > prefixed
expect_status 0 tx-decode -m model --prefix --shortlist list prefixed
expect_stdout_contains 'w30 w31'
expect_stdout_contains 'w40'
expect_status 0 tx-decode -m model --constraints --beam 8 --shortlist list prefixed
expect_stdout_contains 'w30 w31'
expect_stdout_contains 'w40'
expect_usage_error '--shortlist cannot be used with --tgt' tx-decode -m model --shortlist list --tgt in in
expect_usage_error '--shortlist-best needs --shortlist' tx-decode -m model --shortlist-best 3 in
make_model lm kind decoder
expect_usage_error '--shortlist needs a model of kind encoder-decoder: --model lm is of kind decoder' \
  tx-decode -m lm --shortlist list in

# Errors name file and line.
refused() { # MESSAGE
  cat > bad
  expect_status 1 tx-decode -m model --shortlist bad in
  expect_empty_stdout
  expect_stderr "tx-decode: bad$1"
}
printf 'w4\tw5\t0.5\nw4\tw99\t0.5\n' |
  refused ":2: the target vocabulary has no token 'w99'; make the list with the vocabulary of the model"
printf 'W4\tw5\t0.5\n' |
  refused ":1: the source vocabulary has no token 'W4'; make the list with the vocabulary of the model"
printf 'w4 w5 0.5\n' | refused ':1: expected a source token, a target token and a probability, separated by tabs'
for number in 0 1.5 -1 nan x ''; do
  printf 'w4\tw5\t%s\n' "$number" | refused ":1: '$number' is not a probability above 0 and at most 1"
done
refused ' is empty' < /dev/null
expect_status 1 tx-decode -m model --shortlist missing in
expect_stderr 'tx-decode: cannot read missing: No such file or directory'
gzip list
expect_status 0 tx-decode -m model --shortlist list.gz in
