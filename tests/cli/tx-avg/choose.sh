# --last and --best select checkpoints of a run directory.
. "$TX_SOURCE/tests/cli/small_run.sh"
write_text train 60
write_text valid 20
train_small run --valid-src valid.src --valid-tgt valid.tgt

expect_status 0 tx-avg --last 2 -o last run
expect_stderr <<'EOF'
tx-avg: averaged run/model-3.safetensors
tx-avg: averaged run/model-4.safetensors
EOF
grep -aqF 'tx-avg --last 2 run' last || fail "the command is not in the model"

# By step number, not by name; states and step 0 do not count.
cp run/model-4.safetensors run/model-10.safetensors
cp run/model-1.safetensors run/model-0.safetensors
cp run/model-1.safetensors run/model-99x.safetensors
cp run/model-1.safetensors run/model-0100.safetensors
expect_status 0 tx-avg --last 2 -o last run
last_stderr | tail -n 2 > chosen
printf 'tx-avg: averaged run/model-%s.safetensors\n' 4 10 > wanted
expect_same chosen wanted
rm run/model-10.safetensors

# --best: by the validation loss in each model's provenance.
awk -F '[:,]' '/validation_loss/ { print $4, $2 }' run/log.jsonl | sort -g | head -n 2 |
  awk '{ print $2 }' | sort -n > steps
expect_status 0 tx-avg --best 2 -o best run
sed 's,.*,tx-avg: averaged run/model-&.safetensors,' steps > wanted
expect_stderr < wanted

# Of a better checkpoint that was removed since: a warning.
best=$(awk -F '[:,]' '/validation_loss/ { print $4, $2 }' run/log.jsonl | sort -g | awk 'NR == 1 { print $2 }')
mv run/model-$best.safetensors away
expect_status 0 tx-avg --best 2 -o best run
expect_stderr_contains "warning: --best: run no longer has the checkpoint of step $best, which was better than"
mv away run/model-$best.safetensors

# Runs with other seeds have other weights.
train_small seed --seed 2
expect_status 0 tx-avg -o mixed run seed
expect_stderr_contains 'was trained with seed 2, run/'
expect_status 0 tx-avg -o same run run/model-1.safetensors
expect_stderr_lacks 'seed'

train_small other
mkdir empty
each_row expect_error tx-avg -o none <<'END'
--last 5 run => tx-avg: --last 5: run holds only 4 models; use --last 4
--best 5 run => tx-avg: --best 5: run holds only 4 models with a validation loss; use --best 4
--best 1 other => tx-avg: --best 1: other holds no model with a validation loss
--last 1 empty => tx-avg: --last 1: empty holds no model
--last 1 missing => tx-avg: cannot read missing: No such file or directory
END
each_row expect_usage_error tx-avg <<'END'
--last 1 --best 1 -o none run => --last cannot be used with --best
--last 1 -o none run other => needs one run directory
--best 1 -o none best => needs one run directory
--last 0 -o none run => --last 0
--last 1 run => missing option: -o FILE
-o none => MODEL
END
expect_no_file none

# Models that cannot be averaged together, or are invalid: an error that says why; nothing is written.
cp run/model-1.safetensors out

refused() { # TEXT FILE...
  text=$1
  shift
  expect_status 1 tx-avg -o out "$@"
  expect_empty_stdout
  expect_stderr_contains "$text"
  cmp out run/model-1.safetensors || fail "the output was changed"
}
a=run/model-1.safetensors

train_small wide --d-model 32
refused 'wide/last.safetensors cannot be averaged with run/model-1.safetensors: its d_model is 32' \
  $a wide
expect_stderr_contains 'its tensor embedding.weight is F32 [17, 32] instead of F32 [17, 16]'
train_small deep --decoder-layers 2
refused 'its decoder_layers is 2 instead of 1' $a deep
expect_stderr_contains 'tensor decoder.layers.1.'
train_small post --norm-position post
refused 'its norm is "post" instead of "pre"; its tensor encoder.norm.weight is missing' $a post
train_small relu --activation relu
refused 'its activation is "relu" instead of "gelu"' $a relu
expect_stderr_lacks 'its tensor'

# A vocabulary of the same size with other words.
sed 's/w7/x7/g' train.src > src && mv src train.src
sed 's/w7/x7/g' train.tgt > tgt && mv tgt train.tgt
train_small words
refused 'words/last.safetensors cannot be averaged' $a words
expect_stderr_contains 'its source vocabulary differs'
expect_stderr_lacks 'instead of'

mkdir linked
ln -s model-9.safetensors linked/last.safetensors
head -c 9000 $a > cut
size=$(wc -c < $a)
{ head -c $((size - 3000)) $a; printf X; tail -c 2999 $a; } > changed
[ "$(wc -c < changed)" -eq "$size" ] || fail "the edited file has another size"
: > nothing
printf 'a\377b\000c\r\n' > bytes
head -c 1000000 /dev/zero | tr '\0' x > line
each_row refused $a <<'END'
none => cannot read none: No such file
deep/state-4.safetensors => deep/state-4.safetensors
train.src => train.src
linked => cannot read linked/last.safetensors: No such file or directory (a link to model-9
empty => empty is a directory without best.safetensors or last.safetensors
cut => cut
changed => changed is damaged
nothing => nothing
bytes => bytes
line => line
END
each_row expect_error tx-avg $a <<'END'
-o none/out => cannot write none/out: No such file
-o empty => cannot write empty: Is a directory
END
if [ -w /dev/full ]; then
  expect_error 'cannot write /dev/full: No space left on device' tx-avg -q -o /dev/full $a
fi
