# examples/distill.sh: the student's text is the teacher's output that is closest to the reference.
sh "$TX_SOURCE/examples/number_words.sh" 200 20 20 .
tx-bpe train --vocab-size 300 -o bpe.model train.en train.de
for seed in 1 2; do
  tx-train --preset toy --threads 1 --steps 40 --save-every 0 --seed $seed --vocab bpe.model -q \
    --src train.en --tgt train.de -o teacher-$seed || fail 'no teacher'
  cp -L teacher-$seed/last.safetensors teacher-$seed.safetensors
done
distill() {
  sh "$TX_SOURCE/examples/distill.sh" . out "teacher-1.safetensors teacher-2.safetensors" \
    VALID=valid TEST=test FORM= VOCAB=304 SCORE='--metric chrf' TEACHERS='--beam 2' NBEST=3 STEPS=20 \
    BASE='--preset toy --decoder-layers 1 --threads 1 --decoder-memory ssru --positions fairseq' "$@"
}
expect_status 0 distill
cp "$TX_LAST/stdout" table
tx-decode -q -m teacher-1.safetensors -m teacher-2.safetensors --beam 3 --nbest 3 train.en > nbest
[ "$(wc -l < out/outputs.de)" -eq 200 ] || fail 'not one output for each line'
for n in 1 77 200; do
  sed -n ${n}p train.de > reference
  awk -F '\t' -v n=$n '$1 == n' nbest | cut -f 5- | while IFS= read -r line; do
    score=$(printf '%s\n' "$line" | tx-bleu --force --metric chrf --score-only --digits 4 reference)
    printf '%s\t%s\n' "$score" "$line"
  done | sort -s -r -g -k 1,1 | head -n 1 | cut -f 2- > expected
  sed -n ${n}p out/outputs.de > chosen
  expect_same expected chosen
done
[ "$(grep -c '^| .* | [0-9.]* ± [0-9.]* | [0-9?]* | [0-9.]* |$' table)" -eq 7 ] || fail "$(cat table)"
cmp -s out/student.int8 out/without.int8 && fail 'both students are the same'
for file in model.intgemm8.bin lex.bin; do expect_file out/firefox/$file; done
grep -q AlphaAll out/firefox/config.yml || fail 'no ranges of activations'
grep -q 'guided loss' out/student.log || fail 'the alignments were not used'
expect_status 0 distill
cut -d '|' -f 2,3,5 table > expected
cut -d '|' -f 2,3,5 "$TX_LAST/stdout" > again
expect_same expected again
expect_status 2 sh "$TX_SOURCE/examples/distill.sh" . out
expect_stderr_contains 'TEACHER is missing'
