# examples/denoise.sh: text without translations, pretraining and tuning, the table, and resuming.
sh "$TX_SOURCE/examples/number_words.sh" 200 20 20 .
denoise() {
  sh "$TX_SOURCE/examples/denoise.sh" . out VALID=valid TEST=test FORM= VOCAB=300 PAIRS=50 \
    SCORE='--metric chrf' BASE='--preset toy --threads 1' DENOISE=4 STEPS=6
}
expect_status 0 denoise
last_stdout > table
grep -q '^| none | | 50 | [0-9.]* ± [0-9.]* |$' table || fail "$(cat table)"
grep -q '^| filling gaps | 150 | 50 | [0-9.]* ± [0-9.]* |$' table || fail "$(cat table)"
{ sed -n 51,125p train.en && sed -n '126,$p' train.de; } > expected
expect_same expected out/monolingual
head -n 50 train.de > expected
expect_same expected out/pairs.de
grep -q '"denoise": true' out/pretrained/config.json || fail "$(cat out/pretrained/config.json)"
grep -q '"init": "out/pretrained"' out/tuned/config.json || fail 'no pretraining'
grep -q '"init": ""' out/none/config.json || fail 'pretraining'
expect_status 0 denoise
expect_same table "$TX_LAST/stdout"
