# Signatures: different tokenizer models have different ones, the same model always the same.
printf 'the cat sat on the mat\na dog ran\n' > ref
signature() { # TOKENIZER MODEL
  tx-bleu --tokenize "$1" -m "$2" ref < ref | sed 's/.*|tok:\([^|]*\)|.*/\1/'
}
tx-bpe train --vocab-size 281 -o one.model ref 2> log
tx-bpe train --vocab-size 285 -o two.model ref 2> log
cp one.model copy.model
for name in spm flores101 flores200 spBLEU-1K; do
  one=$(signature $name one.model)
  echo "$one" | grep -qx "$name\[[0-9a-f]\{16\}\]" || fail "$name: signature $one"
  [ "$one" = "$(signature $name copy.model)" ] || fail "$name: one model has two signatures"
  [ "$one" != "$(signature $name two.model)" ] || fail "$name: two models have the same signature"
done
# Files of statistics contain the signature.
tx-bleu --tokenize flores200 -m one.model --stats ref < ref > stats
expect_status 0 tx-bleu --from-stats stats
expect_stdout_contains "|tok:$(signature flores200 one.model)|"
