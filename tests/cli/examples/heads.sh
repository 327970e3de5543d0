# examples/heads.sh: the order of pruning, and the scores.
make_model model layers 1 heads 4
printf 'w5 w6 w7 w8\nw9 w4 w6\n' > dev.src
printf 'w8 w7 w6\nw4 w9\n' > dev.ref
printf 'w5 w6 w7 w8 w9\nw6 w5 w4\n' > test.src
tx-decode -m model test.src > test.ref
expect_status 0 env SHARES='10 50 90' SEEDS='1 2' \
  sh "$TX_SOURCE/examples/heads.sh" model dev.src dev.ref test.src test.ref out
expect_empty_stderr
cp "$TX_LAST/stdout" table
cut -f 1,2 table > rows
printf 'percent\theads\n0\t0\n10\t1\n50\t6\n90\t11\n' > expected
expect_same expected rows
[ "$(sed -n 2p table | cut -f 3)" = 100.0 ] || fail 'the full model scored on its own output'

# Each list has every head once, in ascending order of importance.
tx-attn-dump -m model --stats importance --tgt dev.ref dev.src > importance
for list in by-gradient by-loss random-1 random-2; do
  [ "$(sort -u out/$list | wc -l)" -eq 12 ] || fail "$list: $(cat out/$list)"
done
least_important() {
  awk -F '\t' -v wanted="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == wanted) c = i; next }
    NR == 2 || $c < min { min = $c; head = $1 "." $2 "." $3 } END { print head }' importance
}
[ "$(head -n 1 out/by-gradient)" = "$(least_important gradient)" ] || fail 'by-gradient: wrong head'
[ "$(head -n 1 out/by-loss)" = "$(least_important loss)" ] || fail 'by-loss: wrong head'
! cmp -s out/random-1 out/random-2 || fail 'two seeds give the same order'

# A score is BLEU of the model with these heads pruned.
tx-decode -m model --mask-heads "$(head -n 6 out/by-gradient | paste -s -d , -)" test.src |
  tx-bleu --score-only test.ref > score
[ "$(sed -n 4p table | cut -f 3)" = "$(cat score)" ] || fail 'wrong score with half of the heads pruned'

expect_status 2 sh "$TX_SOURCE/examples/heads.sh" model
expect_stderr_contains 'usage: sh examples/heads.sh'
