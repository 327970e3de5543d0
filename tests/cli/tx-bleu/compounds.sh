# --split-compounds: hyphenated words are three tokens, after tokenisation, on both sides.
echo 'die Rich-Text-Datei kam an .' > ref
echo 'die Rich-Text Datei kam an .' > hyp
expect_status 0 tx-bleu --tokenize none --split-compounds ref < hyp
last_stdout > split
expect_stdout_contains '|tok:none|compounds:split|smooth:exp|'
sed 's/\([^ ]\)-\([^ ]\)/\1 ##AT##-##AT## \2/g' ref > ref.atat
sed 's/\([^ ]\)-\([^ ]\)/\1 ##AT##-##AT## \2/g' hyp > hyp.atat
expect_status 0 tx-bleu --tokenize none ref.atat < hyp.atat
last_stdout | sed 's/tok:none/&|compounds:split/' > wanted
expect_same split wanted
expect_status 0 tx-bleu --tokenize none ref < hyp
! cmp -s "$TX_LAST/stdout" wanted || fail 'compounds are always split'

# Statistics contain the setting.
tx-bleu --split-compounds --stats ref < hyp > stats
expect_status 0 tx-bleu --from-stats stats
expect_stdout_contains '|tok:13a|compounds:split|'
