# A vocabulary may overwrite a vocabulary and no other file.
seq 1 300 | sed 's/$/ words and more/' > text
cp text before

expect_usage_error '--out text is also an input: choose another name' tx-bpe train --type words \
  -o text text
ln -s text link
expect_usage_error '--out text is also an input, link: choose another name' tx-bpe train \
  --type words -o text link
cp text other
expect_usage_error '--out other exists and is not a vocabulary' tx-bpe train --type words \
  -o other text
expect_same other before
expect_same text before

# Both kinds of vocabularies and an empty file may be overwritten.
: > new
for vocabulary in words bpe words; do
  expect_status 0 tx-bpe train --type $vocabulary --vocab-size 300 -o new text
done
# Through a symbolic link, its target is overwritten and the link is kept.
tx-bpe train --type bpe --vocab-size 300 -o bpe text
rm link
ln -s new link
expect_status 0 tx-bpe train --type bpe --vocab-size 300 -o link text
[ "$(readlink link)" = new ] || fail 'the link is gone'
expect_same bpe new
