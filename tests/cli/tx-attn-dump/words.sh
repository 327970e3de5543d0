# --words: with subword-nmt's subwords, a word vocabulary and a subword model.
printf 'tx-words 1\n<pad>\n<unk>\n<s>\n</s>\nun@@\nseen\ndog\nHund\n' > words
make_model model vocabulary words
printf 'un@@ seen dog\n\ndog\n' > in
printf 'Hund un@@ seen\n\nHund\n' > target
expect_status 0 tx-attn-dump -m model --words --what weights,log_p --layers 0 --heads 1 --tgt target in
expect_stdout_lines 3
expect_stdout_contains '"source":["unseen","dog","</s>"],"input":["<s>","Hund","unseen"],"target":["Hund","unseen","</s>"]'
expect_stdout_contains '"source_starts":[0,2,3,4],"target_starts":[0,1,3,4]'
expect_stdout_lacks '"rank"'
last_stdout > records
# The first record has 3 x 3 weights of cross and 3 log P; every row sums to 1.
head -n 1 records | sed 's/.*"cross":\[\[\[\[\(.*\)\]\]\]\]}/\1/; s/\],\[/\n/g' | awk -F , '
  { sum = -1; for (i = 1; i <= NF; ++i) sum += $i; if (NF != 3 || sum * sum > 1e-10) bad = 1 }
  END { exit bad || NR != 3 }' || fail 'rows of words'
head -n 1 records | grep -q '"log_p":\[-[0-9.]*,-[0-9.]*,-[0-9.]*\]' || fail 'log P of words'
expect_status 0 tx-attn-dump -m model --words --heatmap --tgt target in
expect_stdout_contains ' unseen'

awk 'BEGIN { for (i = 0; i < 300; ++i) print "the lower house of " i % 7 " rivers, flowing slowly" }' > text
tx-bpe train --vocab-size 300 -o bpe.model text > out 2> err || fail "$(cat err)"
make_model subwords vocabulary bpe.model
printf 'the unseen rivers\n' > line
expect_status 0 tx-attn-dump -m subwords --words --tgt line line
expect_stdout_contains '"source":["the","unseen","rivers","</s>"]'
expect_stdout_contains '"target":["the","unseen","rivers","</s>"]'

# Control characters are replaced in pictures and on the terminal.
printf 'w5\001\033[31m\302\2331m w6\n' > control
expect_status 0 tx-attn-dump -m subwords --svg control.svg --words --tgt control control
expect_status 0 tx-attn-dump -m subwords --heatmap --words --tgt control control
expect_stdout_contains '␁␛[31m'
! LC_ALL=C grep -q "[$(printf '\001\033')]\|$(printf '\302\233')" control.svg "$TX_LAST/stdout" || fail 'a control character is written'
