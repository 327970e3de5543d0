# A model depends only on the text and the options, not on threads, files, their order or
# compression.
seq 1 2000 | sed 's/.*/the number & stands near the house of & dogs/' > a
seq 1 2000 | sed 's/.*/die Zahl & steht bei dem Haus der & Hunde, größer/' > b
expect_status 0 tx-bpe train --vocab-size 500 -o model a b
expect_empty_stdout
expect_empty_stderr
for threads in 1 2 3 4 7; do
  expect_status 0 tx-bpe train --threads $threads --vocab-size 500 -o other b a
  expect_same model other
done
gzip -k b
cat a b.gz > /dev/null
expect_status 0 tx-bpe train --vocab-size 500 -o other a b.gz
expect_same model other
mkfifo pipe
cat b > pipe &
expect_status 0 tx-bpe train --vocab-size 500 -o other a pipe
expect_same model other
expect_status 0 sh -c 'cat a b | tx-bpe train --vocab-size 500 -o -'
expect_stdout_file model
expect_status 0 tx-bpe vocab -m model
expect_stdout_lines 500
expect_stdout_contains "$(printf '2\t<s>')"

# A small text gives a smaller vocabulary; below the required size it is an error.
printf 'ab ab\nba\n' > small
expect_status 0 tx-bpe train --vocab-size 5000 -o few small
expect_stderr <<'EOF'
tx-bpe: warning: the vocabulary has 269 entries instead of 5000: the text is too small for more
EOF
expect_usage_error 'need at least 263' tx-bpe train --vocab-size 100 -o none small
expect_no_file none

# The space is a token however rare it is.
awk 'BEGIN { srand(7); for (i = 0; i < 50; ++i) { line = ""; for (j = 0; j < 3000; ++j)
  line = line substr("ACGT", 1 + int(4 * rand()), 1); print line } }' > letters
expect_status 0 tx-bpe train --vocab-size 400 -o dna letters
expect_status 0 tx-bpe vocab -m dna
expect_stdout_contains "$(printf '\t\342\226\201\t')"
echo 'ACGT ACCA' > line
tx-bpe encode -m dna line > pieces
expect_status 0 tx-bpe decode -m dna pieces
expect_stdout_file line
