# Options of train: sample, coverage, user symbols, digits, normalisation.
seq 1 3000 | sed 's/.*/the number & stands near <x,"y"> the house of & dogs #/' > text

pieces() { tx-bpe vocab -m "$1" | cut -f 2; }

# Digits are separate tokens.
tx-bpe train --vocab-size 500 -o usual text 2> /dev/null
pieces usual | grep -q '[0-9][0-9]$' || fail "no token of two digits without --split-digits"
expect_status 0 tx-bpe train --vocab-size 500 --split-digits -o digits text
! pieces digits | grep -q '[0-9][0-9]$' || fail "a token of two digits"
expect_status 0 sh -c 'tx-bpe encode -m digits text | tx-bpe decode -m digits'
expect_stdout_file text

# User symbols are never split, also with commas and quotes; the longest match wins.
printf '<x,"y">\nse of\n' > bad
expect_status 1 tx-bpe train --user-symbols bad -o none text
expect_stderr_contains 'tx-bpe: bad:2: a symbol cannot contain white space'
printf '<x,"y">\nhouse\nhou\n' > symbols
expect_status 0 tx-bpe train --vocab-size 500 --user-symbols symbols -o user text
expect_status 0 sh -c "echo 'a<x,\"y\">house houhouses' | tx-bpe encode -m user"
expect_stdout '▁ a <x,"y"> house ▁ hou house s'
expect_status 0 sh -c 'tx-bpe encode -m user text | tx-bpe decode -m user'
expect_stdout_file text
expect_status 0 sh -c "echo 'a<x,\"y\">' | tx-bpe encode -m user --bpe-dropout 1"
expect_stdout '▁ a <x,"y">'
refused() { # MESSAGE SYMBOL
  printf "$2\n" > bad
  expect_status 1 tx-bpe train --user-symbols bad -o none text
  expect_stderr "tx-bpe: bad:1: $1"
}
refused 'an empty line is not a symbol' ''
refused 'not valid UTF-8' '\377'
refused 'a symbol cannot contain ▁, which SentencePiece uses' 'a\342\226\201'
refused '<s> is a special token of every model' '<s>'
refused '<0x0A> is a special token of every model' '<0x0A>'
printf 'a\nb\na\n' > bad
expect_status 1 tx-bpe train --user-symbols bad -o none text
expect_stderr 'tx-bpe: bad:3: a occurs twice'

# SentencePiece supports at most 64 symbols that are prefixes of each other.
seq 1 65 | awk '{ s = s "-"; print s }' > nested
head -64 nested > fewer
expect_status 0 tx-bpe train --vocab-size 500 --user-symbols fewer -o user text
expect_status 1 tx-bpe train --vocab-size 500 --user-symbols nested -o none text
expect_stderr_contains 'begins with 64 other symbols'

# Text without spaces is split, not dropped; U+2585 takes no longer than other text.
awk 'BEGIN { for (i = 0; i < 2000; ++i) printf "中文字符"; print "" }' > wide
tx-bpe train --vocab-size 300 -o wide.model wide 2> /dev/null
pieces wide.model | grep -qx 中文字符 || fail "no token of a long word"
awk 'BEGIN { for (i = 0; i < 100000; ++i) printf "▅"; print " a" }' > shade
expect_status 0 timeout 20 tx-bpe train --vocab-size 300 -o shade.model shade

# Normalisation is part of the model and is not inverted by decoding.
printf 'ﬁne ① x y\n' > wide
expect_status 0 sh -c 'tx-bpe encode -m usual wide | tx-bpe decode -m usual'
expect_stdout_file wide
for form in nfkc nmt_nfkc; do
  expect_status 0 tx-bpe train --vocab-size 400 --normalization $form -o $form text
  for dropout in 0 1; do
    expect_status 0 sh -c "tx-bpe encode -m $form --bpe-dropout $dropout wide | tx-bpe decode -m $form"
    expect_stdout 'fine 1 x y'
  done
done
expect_status 0 sh -c 'echo "the ① ▁" | tx-bpe encode -m nfkc --bpe-dropout 1'
expect_stdout '▁ t h e ▁ 1 ▁ <0xE2> <0x96> <0x81>'
expect_usage_error 'nmt_nfkc' tx-bpe train --normalization nfd -o none text

# The rarest characters become bytes.
{ yes 'abc' | head -300; printf 'Q\n'; } > rare
tx-bpe train --vocab-size 300 --character-coverage 1 -o all rare 2> /dev/null
pieces all | grep -qx Q || fail "no token for Q"
tx-bpe train --vocab-size 300 --character-coverage 0.99 -o most rare 2> /dev/null
! pieces most | grep -qx Q || fail "a token for Q"

# A sample depends on the seed, not on threads; a sample larger than the text is the whole text.
tx-bpe train --vocab-size 320 --sample 100 --seed 3 --threads 1 -o sample text
for threads in 2 3 7; do
  tx-bpe train --vocab-size 320 --sample 100 --seed 3 --threads $threads -o other text
  expect_same sample other
done
tx-bpe train --vocab-size 320 --sample 100 --seed 4 -o other text
! cmp -s sample other || fail "--seed changed nothing"
tx-bpe train --vocab-size 320 -o whole text
tx-bpe train --vocab-size 320 --sample 3000 -o other text
expect_same whole other

# The same options give the same bytes.
for again in 1 2; do
  tx-bpe train --vocab-size 400 --user-symbols symbols --normalization nfkc --split-digits \
    --character-coverage 0.999 -o again$again text 2> /dev/null
done
expect_same again1 again2
expect_usage_error '--split-digits cannot be used with --type words' tx-bpe train --type words --split-digits -o none
expect_usage_error '--seed needs --sample' tx-bpe train --vocab-size 400 --seed 3 -o none text
