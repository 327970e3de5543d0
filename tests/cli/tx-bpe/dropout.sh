# encode --bpe-dropout: another segmentation of the same text, the same bytes for any number of
# threads.
seq 1 3000 | sed 's/.*/the number & stands near the house of & dogs/' > text
tx-bpe train --vocab-size 400 -o model text 2> /dev/null
tx-bpe encode -m model text > usual

expect_status 0 tx-bpe encode -m model --bpe-dropout 0 text
expect_stdout_file usual
tx-bpe encode -m model --bpe-dropout 0.1 --threads 1 text > dropped
! cmp -s usual dropped || fail "--bpe-dropout 0.1 changed nothing"
for threads in 2 3 4 7; do
  expect_status 0 tx-bpe encode -m model --bpe-dropout 0.1 --threads $threads text
  expect_stdout_file dropped
done
expect_status 0 tx-bpe decode -m model dropped
expect_stdout_file text
expect_status 0 tx-bpe encode -m model --bpe-dropout 0.1 --seed 2 text
! cmp -s dropped "$TX_LAST/stdout" || fail "--seed changed nothing"

# The segmentation depends on the line number over all files, not on the text of other lines.
sed -n 1001,1100p text > middle
{ yes x | head -1000; cat middle; } > moved
tx-bpe encode -m model --bpe-dropout 0.1 moved | tail -n 100 > after
sed -n 1001,1100p dropped > wanted
expect_same wanted after
yes x | head -1000 > before
expect_status 0 sh -c 'tx-bpe encode -m model --bpe-dropout 0.1 before middle | tail -n 100'
expect_stdout_file wanted
ways=$(yes 'the house' | head -50 | tx-bpe encode -m model --bpe-dropout 0.5 | sort -u | wc -l)
[ "$ways" -gt 5 ] || fail "equal lines should be segmented differently"

# 1: only characters.
expect_status 0 sh -c 'echo "the dogs" | tx-bpe encode -m model --bpe-dropout 1'
expect_stdout '▁ t h e ▁ d o g s'

expect_usage_error '--bpe-dropout' tx-bpe encode -m model --bpe-dropout 1.5 text
printf 'tx-words 1\n<pad>\n<unk>\n<s>\n</s>\na\n' > list
expect_usage_error 'this vocabulary has none' tx-bpe encode -m list --bpe-dropout 0.1 text
