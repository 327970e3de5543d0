# --lowercase, for ASCII and other letters.
printf 'Öl und ÄRGER in Athen ΟΔΟΣ\n' > ref
printf 'öl und Ärger in athen οδος\n' > hyp
expect_status 0 tx-bleu --lowercase ref < hyp
expect_stdout_contains '|case:lc|'
expect_stdout_contains ' = 100.0 '
expect_status 0 tx-bleu ref < hyp
expect_stdout_contains '|case:mixed|'
expect_stdout_lacks ' = 100.0 '
