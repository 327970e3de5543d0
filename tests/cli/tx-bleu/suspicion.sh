# Tokenised or otherwise suspicious text is scored with a warning.
printf 'a cat sits\nunbelievable words\n' > ref
printf 'a ca@@ t sits\nun@@ believ@@ able words\n' > bpe
expect_status 0 tx-bleu --score-only ref < bpe
expect_stderr "tx-bleu: warning: standard input: 2 of 2 lines contain \"@@\": subwords are not joined (the first is line 1); join them with sed -E 's/@@( |$)//g' before scoring"
printf 'a cat sits\n\342\226\201un believable\n' > pieces
expect_status 0 tx-bleu --score-only ref -i pieces
expect_stderr_contains 'pieces: 1 of 2 lines contain U+2581'
expect_status 0 tx-bleu --force --score-only ref -i pieces
expect_stderr_lacks 'U+2581'
awk 'BEGIN { for (i = 0; i < 20; ++i) print "so it is ." }' > tokens
expect_status 0 tx-bleu --score-only tokens -i tokens
expect_stderr_contains 'tokens: 20 of 20 lines end in " .": the text looks tokenised'
expect_status 0 tx-bleu --score-only --tokenize none tokens -i tokens
expect_empty_stderr
