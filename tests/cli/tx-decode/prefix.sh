# --prefix: a forced prefix in the second column, with every kind of search; it is part of the
# score.
make_model one seed 1
make_model two seed 2
printf 'w5 w6 w7\tw9 w10\nw5 w6 w7\nw8\tw11 w12 w13 w14 w15 w16 w17\nw8 \t\n\tw5\n' > in
cut -f 2 in | sed '2s/.*//; 5s/.*//' > beginnings
tab=$(printf '\t')
for way in '' '--beam 1' '--beam 30 --nbest 5' '--sample' '--sample --nbest 3 --top-k 5' '-m two' \
  '--threads 1 --batch-tokens 1' '--pieces'; do
  expect_status 0 tx-decode -m one --prefix --max-extra 4 $way in
  last_stdout > out
  case $way in
    *nbest*) cut -f 1,5 out > numbered ;;
    *) awk -v OFS='\t' '{ print NR, $0 }' out > numbered ;;
  esac
  awk -F '\t' 'NR == FNR { begin[NR] = $0; next }
    index($2, begin[$1]) != 1 || $1 == 5 && $2 != "" { exit bad = 1 }
    length($2) > length(begin[$1]) { ++longer }
    END { exit bad || longer < 3 }' beginnings numbered || fail "$way: not the prefixes"
  expect_status 0 tx-decode -m one --prefix --max-extra 4 $way --check-invariance in
done

# The score is that of the whole output, as with --tgt.
expect_status 0 tx-decode -m one --prefix --precision fp32 --max-extra 20 --scores in
last_stdout > scored
cut -f 1 in > text
cut -f 3 scored > given
expect_status 0 tx-decode -m one --precision fp32 --max-extra 20 --tgt given text
last_stdout | paste - scored | awk -F '\t' '
  split($3, words, " ") < 20 { ++whole; if ($1 != $4 || $2 != $5) exit bad = 1 }
  END { exit bad || whole < 2 }' || fail 'scores differ from those of --tgt'
# An empty prefix changes nothing.
tx-decode -m one text > free
sed 's/$/\t/' text | tx-decode -m one --prefix > out
expect_same free out

# Long prefixes, which are read in several steps, in batches and one by one.
make_model long max_positions 200
awk 'BEGIN { for (i = 1; i <= 150; i += 7) {
  line = "w5 w6\t"
  for (j = 0; j < i; ++j) line = line "w" 4 + (i + j * j) % 50 " "
  print line
} }' > in
expect_status 0 tx-decode -m long --prefix --max-extra 3 --scores in
last_stdout > scored
cut -f 2 in | sed 's/ $//' | paste - scored |
  awk -F '\t' 'index($4, $1) != 1 { exit bad = 1 } END { exit bad || NR != 22 }' || fail 'not the prefixes'
expect_status 0 tx-decode -m long --prefix --max-extra 3 --scores --batch-tokens 1 in
expect_stdout_file scored
expect_status 0 tx-decode -m long --prefix --max-extra 3 --check-invariance in

# The prefix is segmented by the model's vocabulary; if it is too long, it is truncated with a
# warning.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
make_model spm vocabulary bpe.model
printf 'forty-two\tzwei\303\244 \n' > in
expect_status 0 tx-decode -m spm --prefix in
last_stdout | grep -q "^zwei$(printf '\303\244')" || fail 'not the text'
# White space at its ends is ignored.
printf 'forty-two\tzwei drei\n' > in
printf 'forty-two\t\342\200\250 zwei drei\302\240\r\n' > spaced
tx-decode -m spm --prefix in > out
expect_status 0 tx-decode -m spm --prefix spaced
expect_stdout_file out
# A prefix is text: outputs that are cut inside a word are completed, and begin with the prefix.
small_train --steps 150 -o run 2> run.log || fail "$(cat run.log)"
tx-bpe encode -m bpe.model train.de | tr ' ' '\n' | sort -u | head -n 20 | sed "s/.*/$tab&${tab}0.5/" > shortlist
for way in '' '--beam 1 --precision int8'; do
  # shellcheck disable=SC2086
  tx-decode -q -m run $way valid.en > uncut
  for letters in 1 4; do
    sed -E "s/[a-z]{$letters}\$//" uncut > begun
    paste valid.en begun > in
    # shellcheck disable=SC2086
    expect_status 0 tx-decode -q -m run $way --prefix in
    last_stdout | paste uncut - | awk -F '\t' '$1 != $2 { ++n } END { exit n > NR / 20 }' ||
      fail "$way: not completed without $letters letters"
  done
done
for way in '--sample' '--beam 6 --diversity 0.5 --groups 3' '--no-repeat 1' '--min-length 12' '--beam 6 --nbest 6' \
  '--shortlist shortlist'; do
  # shellcheck disable=SC2086
  expect_status 0 tx-decode -q -m run $way --max-extra 20 --scores --prefix in
  last_stdout | awk -F '\t' -v OFS='\t' '{ print (NF > 3 ? $1 : NR), $NF }' > found
  awk -F '\t' 'NR == FNR { begin[NR] = $0; next } index($2, begin[$1]) != 1 { print; exit 1 }' begun found ||
    fail "$way: not the prefix"
done
expect_status 0 tx-decode -q -m run -m run --prefix --check-invariance in
# A space completes the last word.
printf 'two\tzwei\ntwo\tzwei \ntwo\tzw\n' > in
expect_status 0 tx-decode -q -m run --beam 6 --nbest 6 --prefix in
last_stdout | awk -F '\t' '$1 == 2 && $5 !~ /^zwei( |$)/ { exit 1 } $1 == 1 && $5 ~ /^zwei[a-z]/ { ++n }
  END { exit !n }' || fail 'the word is not complete'
printf 'w5\tw5 w6 w7\n' > in
expect_status 0 tx-decode -m one --prefix --max-length 2 in
expect_stderr_contains 'in:1: 3 tokens, cut to the first 2 (--max-length)'
printf 'w5\nw5\tw6\tw7\n' > in
expect_status 1 tx-decode -m one --prefix in
expect_stdout_lines 1
expect_stderr 'tx-decode: in:2: the line has more columns than --prefix reads: TEXT, a tab, PREFIX'
expect_usage_error '--prefix cannot be used with --tgt' tx-decode -m one --prefix --tgt in in
