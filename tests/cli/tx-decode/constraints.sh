# --constraints: required phrases in further columns of a line, after the prefix with --prefix.
make_model one seed 1
make_model two seed 2
printf 'w5 w6 w7\tw9 w10\tw30\nw5 w6\nw8\tw20\n\tw5\nw8 w9\tw11 w12\tw12 w13\t\tw40\n' > in
for way in '' '--beam 1' '--beam 12 --nbest 5' '-m two' '--threads 1 --batch-tokens 1' '--pieces'; do
  expect_status 0 tx-decode -m one --constraints --max-extra 20 --json $way in
  expect_stdout_lines 5
  last_stdout | sed 's/^{"line":\([0-9]*\),"text":"\([^"]*\)".*/\1 \2 /' > texts
  awk 'NR == FNR { n = split($0, c, "\t"); for (i = 2; i <= n; ++i) if (c[1] != "" && c[i] != "") must[NR, c[i]]; next }
    { for (key in must) { split(key, k, SUBSEP)
        if (k[1] == $1 && !index($0, " " k[2] " ")) exit bad = 1 } }
    END { exit bad || FNR != 5 }' in texts || fail "$way: a phrase is missing"
  expect_status 0 tx-decode -m one --constraints --max-extra 20 $way --check-invariance in
done
# Without phrases nothing changes.
cut -f 1 in > text
tx-decode -m one text > free
tx-decode -m one --constraints text > out
expect_same free out
printf 'w5\tw7\tw9\tw10 w11\nw5\t\tw9\n' > in
expect_status 0 tx-decode -m one --prefix --constraints --max-extra 20 --no-repeat 2 in
last_stdout | sed -n 1p | grep -q '^w7' || fail 'not the prefix'
last_stdout | sed -n 1p | grep 'w9' | grep -q 'w10 w11' || fail 'a phrase is missing'
printf 'w5\nw5\tw9 nothing\n' > in
expect_status 1 tx-decode -m one --constraints in
expect_stderr_contains "tx-decode: in:2: 'w9 nothing' cannot be required: a word of it is not in the vocabulary"
expect_usage_error '--constraints cannot be used with --tgt' tx-decode -m one --constraints --tgt in in
expect_usage_error '--constraints cannot be used with --sample' tx-decode -m one --constraints --sample in
expect_usage_error '--constraints cannot be used with --diversity' \
  tx-decode -m one --constraints --diversity 1 in

# Phrases in a file have the same effect as columns.
printf 'w5 w6 w7\tw9 w10\tw30\nw5 w6\nw8\tw20\n\tw5\nw8 w9\tw11 w12\tw12 w13\t\tw40\n' > in
cut -f 1 in > text
sed 's/^[^\t]*\t\{0,1\}//' in > phrases
tx-decode -m one --constraints --max-extra 20 --json in > columns
tx-decode -m one --constraints-file phrases --max-extra 20 --json text > file
expect_same columns file
expect_status 0 tx-decode -m one --constraints-file phrases --check-invariance text
printf 'w9 nothing\n' > phrases
expect_status 1 tx-decode -m one --constraints-file phrases in
expect_stderr_contains "tx-decode: phrases:1: 'w9 nothing' cannot be required"
printf 'w9\n' > phrases
expect_status 1 tx-decode -m one --constraints-file phrases text
expect_stderr_contains 'has no counterpart'
expect_usage_error '--constraints-file cannot be used with --constraints' \
  tx-decode -m one --constraints --constraints-file phrases text
expect_usage_error 'standard input can be only one of the inputs' tx-decode -m one --constraints-file -

# White space at the ends of a phrase is ignored.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
make_model spm vocabulary bpe.model
printf 'forty-two\tzwei\tdrei\n' > in
printf 'forty-two\t\302\240 zwei \t\343\200\200\tdrei\342\200\250\r\n' > spaced
tx-decode -m spm --constraints in > out
expect_status 0 tx-decode -m spm --constraints spaced
expect_stdout_file out
cut -f 1 spaced > text
cut -f 2- spaced > phrases
expect_status 0 tx-decode -m spm --constraints-file phrases text
expect_stdout_file out

# Outputs that end before all phrases are counted and have the state unmet.
printf 'w5\tw9 w10 w11 w12\nw6 w7\tw9\nw8\nw5\tw20 w21 w22\n' > in
expect_status 0 tx-decode -m one --constraints --max-extra 1 --status records in
expect_stderr_contains 'tx-decode: 2 outputs lacking phrases of --constraints, --constraints-file'
expect_stderr_contains 'the first on line 1'
[ "$(awk 'NR > 1 { print $2 ~ /unmet/ }' records | tr '\n' ' ')" = '1 0 0 1 ' ] || fail "$(cat records)"
expect_status 0 tx-decode -q -m one --constraints --max-extra 1 in
expect_empty_stderr
