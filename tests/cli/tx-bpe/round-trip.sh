# Encoding is lossless, by tokens and by ids.
seq 1 500 | sed 's/.*/the number & stands near the house of & dogs/' > text
tx-bpe train --vocab-size 400 -o model text 2> /dev/null
{
  printf '  two  spaces before, one behind \n\n\ttab\ttab\n \n'
  printf 'NUL \000 CR \r\n'
  printf '\342\226\201 \342\226\201\342\226\201 U+2581 and \364\217\277\275 its stand-in\n'
  printf 'U+2028 \342\200\250 U+0085 \302\205 emoji \360\237\230\200 e\314\201\n'
  printf '<s> <unk> </s> <pad> <0x41>\n'
  head -c 100000 /dev/zero | tr '\0' x
  printf '\n'
} > odd
for ids in '' --ids; do
  for threads in 1 2 3 4 7; do
    expect_status 0 tx-bpe encode $ids --threads $threads -m model odd
    last_stdout > pieces
    [ ! -e "first$ids" ] || expect_same pieces "first$ids"
    cp pieces "first$ids"
    expect_status 0 tx-bpe decode $ids --threads $threads -m model < pieces
    expect_stdout_file odd
  done
done
expect_status 0 tx-bpe encode -m model < text
expect_empty_stderr

# Empty input gives empty output; a last line without newline counts.
expect_status 0 tx-bpe encode -m model < /dev/null
expect_empty_stdout
expect_status 0 sh -c 'printf "a\nthe" | tx-bpe encode -m model | tx-bpe decode -m model'
expect_stdout "a
the"
