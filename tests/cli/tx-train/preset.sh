# A run without --preset selects one for its text and prints it; the selection is recorded, so
# that --resume and --config repeat it; options override it.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
texts="--src train.en --tgt train.de --vocab bpe.model --threads 1"

expect_status 0 tx-train $texts --steps 2 -o toy
expect_stderr_contains "tx-train: preset toy, for fewer than 50,000 target tokens; this text has "
expect_stderr_contains "; override with --preset"
[ "$(setting toy preset)" = toy ] || fail "$(cat toy/config.json)"
[ "$(setting toy d-model)" = 64 ] || fail "$(cat toy/config.json)"
[ "$(setting toy steps)" = 2 ] || fail "$(cat toy/config.json)"
expect_status 0 tx-train --preset toy $texts --steps 2 -o named
[ "$(weights_hash toy/model-2.safetensors)" = "$(weights_hash named/model-2.safetensors)" ] ||
  fail "the selected preset differs from the named one"

# More text: modern, unless an option sets the size of the model.
for side in en de; do
  for _ in 1 2 3 4 5 6 7 8 9 10; do cat train.$side; done > more.$side
done
more="--src more.en --tgt more.de --vocab bpe.model --threads 1"
expect_status 0 tx-train $more --steps 1 --layers 1 --d-model 16 --heads 2 --d-ff 16 \
  --batch-tokens 500 -o sized
expect_stderr_contains "preset base, because the size of the model is given"
[ "$(setting sized preset)" = base ] || fail "$(cat sized/config.json)"
expect_status 0 tx-train $more --steps 1 --save-every 1 --batch-tokens 300 --lr 0.002 -o modern
expect_stderr_contains "preset modern, for fewer than 25,000,000 target tokens; this text has "
[ "$(setting modern preset) $(setting modern lr)" = "modern 0.002" ] ||
  fail "$(cat modern/config.json)"

# The selection is kept by --resume, and by --config whatever the text.
expect_status 0 tx-train --resume modern --steps 2
! grep -q "preset" "$TX_LAST/stderr" || fail "--resume selects a preset again: $(cat "$TX_LAST/stderr")"
expect_status 2 tx-train --resume modern --preset toy --steps 3
expect_status 0 tx-train --config modern/config.json --src train.en --tgt train.de --steps 1 -o again
[ "$(setting again preset) $(setting again d-model)" = "modern 128" ] || fail "$(cat again/config.json)"

# A configuration that names no size leaves the selection open, and the schedule fits the run.
for json in '{}' '{"dropout": 0.0}' '{"preset": "auto"}'; do
  echo "$json" > settings.json
  rm -rf configured
  expect_status 0 tx-train $texts --config settings.json --steps 2 -o configured
  expect_stderr_contains "tx-train: preset toy, for fewer"
  [ "$(weights_hash configured/model-2.safetensors)" = "$(weights_hash toy/model-2.safetensors)" ] ||
    fail "$json differs from no configuration"
done
echo '{"preset": "toy"}' > settings.json
rm -rf configured
expect_status 0 tx-train $texts --config settings.json --steps 2 -o configured
[ "$(weights_hash configured/model-2.safetensors)" = "$(weights_hash toy/model-2.safetensors)" ] ||
  fail "a configured preset differs from the named one"
echo '{"d-model": 16, "heads": 2}' > settings.json
expect_status 0 tx-train $texts --config settings.json --describe
expect_stderr_contains "preset base, because the size of the model is given"

# --describe and --parity use the same selection.
expect_status 0 tx-train $texts --describe
expect_stderr_contains "preset toy"
expect_stdout_contains "(256, 64)"
expect_status 0 tx-train --describe
expect_stderr_contains "no text given: describing preset base"
expect_stdout_contains "(2048, 512)"
expect_status 0 tx-train $texts --parity
expect_stderr_contains "preset toy"

# A learning rate may be given with the schedule of the selected preset.
expect_status 0 tx-train $texts --lr 0.001 --steps 1 -o lr

# A small text is read at most 60 times; --steps and --preset are not changed. The learning rate of
# modern falls to the last step, also with --epochs.
valid="--valid-src valid.en --valid-tgt valid.de"
expect_status 0 tx-train $more $valid --batch-tokens 8192 --describe
expect_stderr_contains "steps, 60 epochs; override with --preset"
for limit in "--steps 9" "--epochs 9" "--preset tiny"; do
  expect_status 0 tx-train $more $valid --batch-tokens 8192 $limit --describe
  expect_stderr_lacks "60 epochs"
done
expect_status 0 tx-train $more --batch-tokens 8192 --epochs 1 -o epoch
expect_stderr_lacks "schedule cosine reaches 0"
[ "$(setting epoch steps)" = "$(sed -n 's/.*"step":\([0-9]*\),.*/\1/p' epoch/log.jsonl | tail -n 1)" ] ||
  fail "$(cat epoch/config.json)"
# More epochs than those of the preset's own steps: 15.
expect_status 0 tx-train $more $valid --batch-tokens 200 --describe
expect_stderr_contains "steps, 15 epochs; override with --preset"

# With another optimizer than Muon: tiny, with patience.
expect_status 0 tx-train $more $valid --batch-tokens 300 --optimizer adam --steps 1 -o patient
expect_stderr_contains "preset tiny, for fewer"
expect_stderr_contains "; it ends after 10 validations without improvement (--patience)"
[ "$(setting patient patience)" = 10 ] || fail "$(cat patient/config.json)"
expect_status 0 tx-train $more --optimizer muon --describe
expect_stderr_contains "preset modern, for fewer"
