# --type words: the words of the text, most frequent first.
printf 'b a  a\nc a b\n' > text
expect_status 0 tx-bpe train --type words -o list text
expect_status 0 cat list
expect_stdout <<'EOF'
tx-words 1
<pad>
<unk>
<s>
</s>
a
b
c
EOF
expect_status 0 tx-bpe train --type words --vocab-size 6 -o list text
expect_empty_stderr
expect_status 0 sh -c "printf '\nb x  a </s>\n' | tx-bpe encode -m list"
expect_stdout "
b <unk> a <unk>"
printf 'b x  a </s>\n' > unknown
expect_status 0 tx-bpe encode --summary -m list unknown
expect_stderr_contains '4 tokens: 1.000 per word, 0.000 % of them bytes, 50.000 % <unk>; longest'
expect_status 0 sh -c "printf '5 1 4\n' | tx-bpe decode --ids -m list"
expect_stdout "b <unk> a"
