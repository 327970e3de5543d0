# Output constraints: --min-length, --no-repeat and --forbid, with every kind of search.
make_model one seed 1
make_model two seed 2
awk 'BEGIN { for (i = 0; i < 20; ++i) { for (j = 0; j <= i % 6; ++j)
  printf "w%d ", 4 + (i * 31 + j * 17) % 56; print "" } }' > in
tx-decode -m one --max-extra 9 in > free
printf 'w5\n\n  w7 w8 \nnothing\n' > words
sed 's/ /\n/2; s/\n.*//' free | sort -u | head -n 3 >> words  # pairs that occur
for way in '' '--beam 1' '--beam 30 --nbest 5' '--sample --nbest 3' '-m two' '--threads 1'; do
  expect_status 0 tx-decode -m one $way --max-extra 9 --min-length 4 --no-repeat 2 --forbid words in
  last_stdout | sed 's/.*\t//' | awk '
    NR == FNR { gsub(/^ +| +$/, ""); if ($0 != "") forbidden[" " $0 " "]; next }
    { for (phrase in forbidden) if (index(" " $0 " ", phrase)) exit bad = 1
      if (NF < 4) exit bad = 1
      split("", seen)
      for (i = 1; i < NF; ++i) if (seen[$i " " $(i + 1)]++) exit bad = 1 }
    END { exit bad || FNR < 20 }' words - || fail "$way: an output breaks a constraint"
  expect_status 0 tx-decode -m one $way --max-extra 9 --min-length 4 --no-repeat 2 --forbid words \
    --check-invariance in
done
# Each constraint has an effect.
for rule in '--min-length 30' '--no-repeat 1' '--forbid words'; do
  expect_status 0 tx-decode -m one --max-extra 9 $rule in
  ! cmp -s free "$TX_LAST/stdout" || fail "$rule changes nothing"
done
# White space at the ends of a phrase is ignored.
tx-decode -m one --max-extra 9 --forbid words in > out
sed 's/^/\t\xc2\xa0/; s/$/\xe3\x80\x80 \r/' words > spaced
expect_status 0 tx-decode -m one --max-extra 9 --forbid spaced in
expect_stdout_file out
expect_status 1 tx-decode -m one --forbid missing in
expect_stderr 'tx-decode: cannot read missing: No such file or directory'
expect_usage_error '--no-repeat cannot be used with --tgt' tx-decode -m one --no-repeat 2 --tgt in in

# Only one of the inputs can be standard input; a text that is not given is.
for options in '-m one --forbid -' '-m one --shortlist -' '-m one --compare -' '-m -' \
  '-m one --forbid - -' '-m one --forbid /dev/stdin'; do
  # shellcheck disable=SC2086
  cat words | expect_usage_error 'standard input can be only one of the inputs' tx-decode $options
done
expect_status 0 tx-decode -m one --max-extra 9 --forbid words in
last_stdout > wanted
expect_status 0 tx-decode -m one --max-extra 9 --forbid - in < words
expect_stdout_file wanted
