# examples/reverse_task.sh: a few steps of each model, and a second call resumes them.
expect_status 0 sh "$TX_SOURCE/examples/reverse_task.sh" work 5
for model in tutorial words subwords; do
  grep -q "^$model: [0-9]* of 500 reversed" "$TX_LAST/stdout" || fail "$(cat "$TX_LAST/stdout")"
  expect_file work/$model/config.json
done
[ "$(grep -c '^  Source: [0-9 ]* Expected: [0-9 ]* Predicted:' "$TX_LAST/stdout")" = 9 ] ||
  fail "$(cat "$TX_LAST/stdout")"
grep -q '"lr": 0.0001' work/tutorial/config.json || fail "the tutorials' rate is missing"
expect_status 0 sh "$TX_SOURCE/examples/reverse_task.sh" work 8
expect_file work/words/model-8.safetensors
