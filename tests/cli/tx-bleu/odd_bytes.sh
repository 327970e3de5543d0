# CR, NUL, U+2028, invalid UTF-8, a long line, no newline at the end.
printf 'a b c d\ne f g h\n' > ref
printf 'a b c d\r\ne f g h' > crlf
expect_status 0 tx-bleu ref < crlf
expect_stdout_contains ' = 100.0 '
expect_empty_stderr
printf 'a b\342\200\250c d\ne\302\240f g h\n' > separators
expect_status 0 tx-bleu ref < separators
expect_stdout_contains ' = 100.0 '

printf 'a b c d\ne f \377g\355\240\200 h\n' > bad
expect_status 0 tx-bleu ref -i bad
expect_stderr 'tx-bleu: warning: bad: 4 invalid UTF-8 sequences replaced by U+FFFD, the first in line 2'
expect_status 1 tx-bleu --strict ref -i bad
expect_empty_stdout
expect_stderr_contains 'tx-bleu: bad line 2: invalid UTF-8'

printf 'x\000y z\n' > nul
expect_status 0 tx-bleu nul -i nul
expect_stdout_contains ' hyp_len = 2 ref_len = 2)'
awk 'BEGIN { for (i = 0; i < 150000; ++i) printf "word%d ", i % 5000; print "" }' > long
expect_status 0 tx-bleu long < long
expect_stdout_contains ' = 100.0 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 150000'
# All metrics accept such text; time is about linear in the length of a line.
tr '\n' ' ' < long | cut -c 1-1000000 > million
expect_status 0 tx-bleu --metric bleu,chrf++,ter million < million
expect_stdout_contains 'TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0 = 0.0'
sed 's/word1 word2/word2 word1/' million > moved
expect_status 0 tx-bleu --metric ter million < moved
expect_status 0 tx-bleu --metric bleu,chrf,ter nul -i nul
expect_stdout_contains '      chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0 = 100.0'

# A closed pipe ends the tool silently.
yes 'a b c d' | head -n 20000 > lines
sh -c 'tx-bleu --sentence lines -i lines 2> talk; echo $? > status' | head -n 1 > first
[ ! -s talk ] || fail "message after a closed pipe: $(cat talk)"
[ "$(cat status)" -eq 141 ] || fail "status $(cat status) instead of 141"

# Unreadable and invalid models.
for model in missing . lines; do
  expect_status 1 tx-bleu --tokenize spm -m $model lines -i lines
  expect_empty_stdout
  expect_stderr_contains "$model"
done
