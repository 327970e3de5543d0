# examples/finetune.sh: the mixture, the table, a given model, and resuming.
mkdir general domain
sh "$TX_SOURCE/examples/number_words.sh" 300 20 20 general
for name in train valid test; do
  for side in en de; do head -n 100 general/$name.$side | sed 's/ .*//' > domain/$name.$side; done
done
finetune() { # DIR SETTING...
  dir=$1
  shift
  sh "$TX_SOURCE/examples/finetune.sh" general domain "$dir" VALID='valid valid' TEST='test test' \
    VOCAB=300 SCORE='--metric chrf' BASE='--preset toy --threads 1' TUNE=6 STEPS=20 "$@"
}
expect_status 0 finetune out
cp "$TX_LAST/stdout" table
grep -q '^| nothing | | [0-9.]* ± [0-9.]* | [0-9.]* ± [0-9.]* |$' table || fail "$(cat table)"
for row in 'domain | 0.001' 'domain | 0.0002' 'mixed | 0.001' 'mixed | 0.0002'; do
  grep -q "^| $row | [0-9.]* ± [0-9.]* | [0-9.]* ± [0-9.]* |$" table || fail "$row: $(cat table)"
done
# Every third general pair, after those of the domain.
for side in en de; do
  awk 'NR % 3 == 0' general/train.$side | cat domain/train.$side - > expected
  expect_same expected out/mixed.$side
done
grep -q '"lr": 0.0002' out/mixed-0.0002/config.json || fail "$(cat out/mixed-0.0002/config.json)"
expect_status 0 finetune out
expect_same table "$TX_LAST/stdout"
expect_status 0 finetune other MODEL=out/general.safetensors RATES=0.001 TUNE=2
grep '^| nothing' table > expected
last_stdout | grep '^| nothing' > row
expect_same expected row
expect_status 2 finetune out TUNE=7
expect_stderr_contains 'now  TUNE=7'
