# examples/simcut.sh: both directions in one text, then one; the table, and resuming.
sh "$TX_SOURCE/examples/number_words.sh" 200 20 20 .
simcut() {
  sh "$TX_SOURCE/examples/simcut.sh" . out VALID=valid TEST=test FORM= VOCAB=300 DECODE='--beam 2' \
    SCORE='--metric chrf' BASE='--preset toy --threads 1' STEPS=8 TUNE=4 OPTIONS="--lr 0.001" "$@"
}
expect_status 0 simcut
cp "$TX_LAST/stdout" table
paste train.en train.de > expected
paste train.de train.en >> expected
paste out/directions.en out/directions.de > directions
expect_same expected directions
for name in plain simcut both bi-simcut; do
  grep -q "^| $name | [0-9.]* ± [0-9.]* |$" table || fail "$name: $(cat table)"
done
for run in simcut both bi-simcut; do
  grep -q '"consistency": "simcut"' out/$run/config.json || fail "$run was trained without SimCut"
done
grep -q '"consistency": "none"' out/plain/config.json || fail 'plain was trained with SimCut'
grep -q '"init": "out/both.safetensors"' out/bi-simcut/config.json || fail 'no pretraining'
expect_status 0 simcut
expect_same table "$TX_LAST/stdout"
