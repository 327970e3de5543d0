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

# Files without text, and alignments that count from 1.
printf '0-0 1-1\n0-0\n' > links
printf '1-1 2-2\n1-1\n' > from_one
expect_status 0 tx-bleu -b links -i links
expect_stderr 'tx-bleu: warning: links seems to be a word alignment: compare alignments with --metric aer
tx-bleu: warning: links seems to be a word alignment: compare alignments with --metric aer'
expect_status 0 tx-bleu -b --force links -i links
expect_empty_stderr
echo '{"text": "a cat sits"}' > json
expect_status 0 tx-bleu -b json -i json
expect_stderr_contains 'json seems to be JSON: extract its text'
expect_status 0 tx-bleu -b --metric aer links -i links
expect_empty_stderr
for files in 'links -i from_one' 'from_one -i links'; do
  expect_status 0 tx-bleu -b --metric aer $files
  expect_stderr 'tx-bleu: warning: no link of from_one has a word 0, but links of links have: words are counted from 0; if the first counts from 1, subtract 1'
done
expect_status 0 tx-bleu -b --metric aer from_one -i from_one
expect_empty_stderr
printf '1 1 1\n1 2 2\n2 1 1\n' > naacl
expect_status 0 tx-bleu -b --metric aer naacl -i links
expect_stdout 0.0
expect_empty_stderr
