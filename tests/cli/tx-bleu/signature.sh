# Different models sign differently, whatever name the tokenizer goes by; the same model the same way.
printf 'the cat sat on the mat\na dog ran\n' > ref
signature() { # TOKENIZER MODEL
  tx-bleu --tokenize "$1" -m "$2" ref < ref | sed 's/.*|tok:\([^|]*\)|.*/\1/'
}
tx-bpe train --vocab-size 281 -o one.model ref 2> log
tx-bpe train --vocab-size 285 -o two.model ref 2> log
cp one.model copy.model
for name in spm flores101 flores200 spBLEU-1K; do
  one=$(signature $name one.model)
  echo "$one" | grep -qx "$name\[[0-9a-f]\{16\}\]" || fail "$name signs $one"
  [ "$one" = "$(signature $name copy.model)" ] || fail "$name: one model, two signatures"
  [ "$one" != "$(signature $name two.model)" ] || fail "$name: two models, one signature"
done
# Statistics carry it along.
tx-bleu --tokenize flores200 -m one.model --stats ref < ref > stats
expect_status 0 tx-bleu --from-stats stats
expect_stdout_contains "|tok:$(signature flores200 one.model)|"
