# Names that options had go on working: on the command line, in config.json, in a run that goes on.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
small_train --norm-position pre --steps 6 --save-every 3 -o new 2> log || fail "$(cat log)"
grep -q '"vocab": "bpe.model"' new/config.json || fail "config.json has no --vocab"
tx-train --src train.en --tgt train.de --valid-src valid.en --valid-tgt valid.de \
  --bpe bpe.model --layers 1 --d-model 32 --heads 2 --d-ff 64 --schedule inverse-sqrt \
  --lr 0.02 --warmup 4 --batch-tokens 200 --threads 1 --precision fp32 --log-every 1 \
  --norm pre --steps 6 --save-every 3 -o old 2> log || fail "$(cat log)"
[ "$(weights_hash old/last.safetensors)" = "$(weights_hash new/last.safetensors)" ] ||
  fail "old names train another model"
tx-train --src train.en --tgt train.de --bpe-src bpe.model --bpe-tgt bpe.model --preset toy \
  --layers 1 --steps 1 -o two 2> log || fail "$(cat log)"

# As older versions wrote it.
sed -i 's/"vocab": "bpe.model"/"bpe": "bpe.model"/; s/"vocab-src"/"bpe-src"/
  s/"vocab-tgt": ""/"bpe-tgt": "", "vocab": ""/; s/"norm-position"/"norm"/' old/config.json
for entry in '"bpe": "bpe.model"' '"bpe-src": ""' '"bpe-tgt": "", "vocab": ""' '"norm": "pre"' \
  '"layers": 0'; do
  grep -qF "$entry" old/config.json || fail "no $entry in $(cat old/config.json)"
done
cp -r old config
for run in old new; do tx-train --resume $run --steps 9 2> log || fail "$(cat log)"; done
[ "$(weights_hash old/last.safetensors)" = "$(weights_hash new/last.safetensors)" ] ||
  fail "resumed by its old names the run is another"
expect_usage_error '--norm-position does not go with --resume' \
  tx-train --resume config --norm post
expect_usage_error '--vocab does not go with --resume' \
  tx-train --resume config --vocab words
tx-train --config config/config.json --src valid.en --tgt valid.de -o again 2> log ||
  fail "$(cat log)"
expect_usage_error '--norm-position post contradicts --init new' \
  tx-train --init new --norm post --src train.en --tgt train.de -o other

# A file called words was a file under the old name, and is one; --vocab words counts the text's.
tx-bpe train --type words --vocab-size 40 -o words train.en train.de 2> log
described() { last_stdout | grep -v '^  program \|^  total '; } # what the process itself takes varies
expect_status 0 tx-train --describe --bpe words
described > file
expect_status 0 tx-train --describe --vocab ./words
described | cmp - file || fail "a file called words is another vocabulary by its new name"
expect_status 0 tx-train --describe --vocab words --src train.en --tgt train.de
! described | cmp -s - file || fail "--vocab words reads the file"
