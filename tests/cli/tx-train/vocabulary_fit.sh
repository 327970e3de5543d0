# A run prints how well the vocabulary fits the text, and warns if it does not.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
expect_status 0 small_train --steps 1 -o fits
expect_stderr_contains 'tx-train: first 400 pairs: source 0.0 % <unk>, 0.0 % bytes; target 0.0 % <unk>, '
expect_stderr_lacks 'does not fit'

# Another language: letters become bytes. The command in the advice gives a vocabulary that fits.
seq 1 300 | tr 0-9 'αβγδεζηθικ' > greek
tx-bpe train --vocab-size 280 -o greek.model greek 2> log
expect_status 0 small_train --steps 1 --vocab greek.model --max-length 1000 --batch-tokens 2000 -o greek.run
expect_stderr_contains 'tx-train: warning: source (train.en): 0.0 % <unk>, '
expect_stderr_contains ' bytes in the first 400 pairs: the vocabulary does not fit this text. Is greek.model of another language, or are --src and --tgt swapped?'
expect_stderr_contains 'tx-train: warning: validation target (valid.de): '
advice=$(sed -n 's/.*(train.en).* To train one on this text: //p' "$TX_LAST/stderr")
[ "$advice" = 'tx-bpe train -o new.model train.en train.de' ] || fail "the advice is: $advice"
$advice 2> log
expect_status 0 small_train --steps 1 --vocab new.model -o again
expect_stderr_lacks 'does not fit'

# The word list of one side for both: the words of the other side are <unk>.
tx-bpe train --type words -o words train.en 2> log
expect_status 0 small_train --steps 1 --vocab ./words -o words.run
expect_stderr_lacks 'warning: source'
expect_stderr_contains 'warning: target (train.de): '
expect_stderr_contains 'It is a list of whole words; to train subwords, which cover every word: tx-bpe train -o new.model train.en train.de'
# Vocabularies swapped.
tx-bpe train --type words -o words.de train.de 2> log
expect_status 0 tx-train --src train.de --tgt train.en --vocab-src words --vocab-tgt words.de \
  --tie target --layers 1 --d-model 32 --heads 2 --d-ff 64 --batch-tokens 200 --threads 1 --steps 1 \
  -o exchanged
expect_stderr_contains 'warning: source (train.de): '
expect_stderr_contains 'Is words of another language, or are --vocab-src and --vocab-tgt swapped, or are --src and --tgt swapped?'
# Printed once, when the run starts.
expect_status 0 tx-train --resume words.run --steps 2
expect_stderr_lacks '<unk>'
