# Checkpoints that a resumed run must not lose: by new options, a damaged file, a failing link or
# another text; and temporary files of other writers.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
checkpoints() { (cd "$1" && ls model-*.safetensors | tr -dc '0-9\n' | sort -n | xargs); }

small_train --keep 9 -o first 2> first.log || fail "$(cat first.log)"
[ "$(checkpoints first)" = "3 6 9 12" ] || fail "checkpoints $(checkpoints first)"

# Without further steps nothing is removed. New options apply to later checkpoints only.
cp -a first run
for option in '--save-every 5' '--keep 1'; do
  expect_status 0 tx-train --resume run $option
  expect_stderr_contains 'nothing to do'
  [ "$(checkpoints run)" = "3 6 9 12" ] || fail "$option leaves $(checkpoints run)"
done
expect_status 0 tx-train --resume run --save-every 5 --steps 15
[ "$(checkpoints run)" = "3 6 9 12 15" ] || fail "--save-every 5 leaves $(checkpoints run)"
expect_status 0 tx-train --resume run --save-every 4 --steps 20
[ "$(checkpoints run)" = "3 6 9 12 15 16 20" ] || fail "--save-every 4 leaves $(checkpoints run)"
best=$(readlink run/best.safetensors | tr -dc 0-9)
expect_status 0 tx-train --resume run --keep 2 --steps 24
[ "$(checkpoints run)" = "$(printf '%s\n' "$best" 20 24 | sort -nu | xargs)" ] ||
  fail "--keep 2 leaves $(checkpoints run), best is $best"

# Options that may change on --resume.
rm -rf run && cp -a first run
expect_status 0 tx-train --resume run --steps 14 --memory 2G --on-spike skip --spike-threshold 5 \
  --spike-floor 0.2 --max-skips 3 --valid-every 1
for option in '"memory": "2G"' '"on-spike": "skip"' '"max-skips": 3' '"valid-every": 1'; do
  grep -q "$option" run/config.json || fail "$option is not in $(cat run/config.json)"
done
[ "$(grep -c '"step":1[34],"validation_loss"' run/log.jsonl)" -eq 2 ] || fail "$(cat run/log.jsonl)"
expect_status 2 tx-train --resume run --steps 15 --memory 1M
expect_stderr_contains '--memory 1M cannot hold the batches of this run'
would=$(sed -n 's/.*batches of this run: give --memory \([0-9]*M\).*/\1/p' "$TX_LAST/stderr")
expect_status 0 tx-train --resume run --steps 15 --memory "$would"
for option in '--dropout 0.3' '--dropout 0.1' --no-denoise '--preset base'; do
  # shellcheck disable=SC2086
  expect_usage_error "${option%% *} cannot be used with --resume: a resumed run keeps its options" \
    tx-train --resume run --steps 16 $option
done

# The newest checkpoint is damaged: checkpoints saved before that step is reached again are kept.
rm -rf run && cp -a first run
printf X | dd of=run/state-12.safetensors bs=1 seek=6000 conv=notrunc 2> /dev/null
expect_status 0 tx-train --resume run --steps 11 --keep 1
expect_stderr_contains 'resuming from the checkpoint of step 9'
[ "$(readlink run/last.safetensors)" = model-11.safetensors ] || fail 'last is not step 11'
[ -e run/model-11.safetensors ] && [ -e run/state-11.safetensors ] || fail 'step 11 is lost'
[ -e run/model-9.safetensors ] || fail 'step 9 is lost'
expect_status 0 tx-train --resume run --steps 12
expect_stderr_contains 'resuming from the checkpoint of step 11'
cmp first/model-12.safetensors run/model-12.safetensors || fail 'step 12 has different bytes'

# A failure to set a link loses no checkpoint.
rm -rf run
status=0
small_train --valid-command 'case $MODEL in
  *-6.*) rm -f run/best.safetensors; mkdir run/best.safetensors ;; esac
  echo 1' -o run 2> run.log || status=$?
[ $status -eq 1 ] || fail "status $status instead of 1: $(cat run.log)"
grep -q 'cannot rename run/best.safetensors' run.log || fail "$(cat run.log)"
grep -q 'the checkpoint of step 6 is complete' run.log || fail "$(cat run.log)"
[ -e run/model-6.safetensors ] && [ -e run/state-6.safetensors ] || fail 'step 6 is lost'
[ "$(readlink run/last.safetensors)" = model-6.safetensors ] || fail 'last is not step 6'
rmdir run/best.safetensors
expect_status 0 tx-train --resume run

# If the text has changed, it is an error and the ids are not overwritten.
rm -rf run && cp -a first run
rm run/train.ids
cp train.en train.good
sed 1d train.good > train.en && head -n 1 train.good >> train.en
expect_status 1 tx-train --resume run --steps 13
expect_stderr_contains 'train.en is not the text this run was started with'
cp train.good train.en
expect_status 0 tx-train --resume run --steps 13

# Temporary files of other writers are not removed during training; those of a killed run are
# removed at the start.
rm -rf run && cp -a first run
touch run/.tx-0123456789abcdef.tmp
runner=exec
tx-train --resume run --steps 0 --minutes 1 2> second.log &
runner=
until grep -qs "the checkpoints in run need" second.log; do sleep 0.05; done
expect_no_file run/.tx-0123456789abcdef.tmp
touch run/.tx-fedcba9876543210.tmp
until [ "$(readlink run/last.safetensors)" != model-12.safetensors ]; do sleep 0.05; done
kill $! 2> /dev/null
wait $! || true
[ -e run/.tx-fedcba9876543210.tmp ] || fail 'the file of another writer is gone'

# The directory disappears before the run starts.
mkfifo pipe
small_train --src pipe --tgt train.de -o gone 2> gone.log &
until [ -e gone/lock ]; do sleep 0.05; done
rm -rf gone
cat train.en > pipe
status=0
wait $! || status=$?
[ $status -eq 1 ] || fail "status $status instead of 1: $(cat gone.log)"
grep -q 'tx-train: cannot .* gone' gone.log || fail "$(cat gone.log)"

# A value of the wrong type in config.json is an error with file and key, even if an option
# overrides it.
config() { # KEY VALUE MESSAGE OPTION...: replaces the first value of that key
  rm -rf run && cp -a first run
  sed -E "0,/\"$1\": /s/\"$1\": ([^,\"[]+|\"[^\"]*\")/\"$1\": $2/" first/config.json > run/config.json
  ! cmp -s first/config.json run/config.json || fail "no $1"
  message=$3
  shift 3
  expect_status 1 tx-train --resume run --steps 13 "$@"
  expect_stderr_contains "tx-train: run/config.json: $message"
}
config command 7 'command is 7, not a string'
config data '{}' 'data is {}, not a string'
config batch_tokens_resolved '\"many\"' 'batch_tokens_resolved is "many", not a whole number'
config keep '\"all\"' 'options: keep is "all", not a whole number' --keep 3
config memory 7 'options: memory is 7, not a string' --memory 1G
config valid-command true 'options: valid-command is true, not a string' --valid-command 'echo 1'
config save-every null 'options: save-every is null, not a whole number' --save-every 3
config valid_data '7, \"saves_before\": 7' 'valid_data is 7, not a string'
config data '\"x\", \"saves_before\": [{\"until\": 1.5}]' 'saves_before: until is 1.5, not a whole number'
config data '\"x\", \"products\": 7' 'products is 7, not a string'

# An incomplete log gives a warning.
rm -rf run && cp -a first run
expect_status 0 tx-train --resume run --steps 14
expect_stderr_lacks 'log.jsonl'
sed '/"step":9,/,$d' first/log.jsonl > run/log.jsonl
expect_status 0 tx-train --resume run --steps 16
expect_stderr_contains 'warning: run/log.jsonl ends at step 8, but the checkpoint is of step 14: the lines between'
: > run/log.jsonl
expect_status 0 tx-train --resume run --steps 18
expect_stderr_contains 'warning: run/log.jsonl has no lines, but the checkpoint is of step 16'

# A log whose first line is damaged is not taken for text of another kind.
for begin in '\377\376\n' 'BZh91AY&SY\n' '\037\213\n'; do
  rm -rf run && cp -a first run
  { printf "$begin"; cat first/log.jsonl; } > run/log.jsonl
  expect_status 0 tx-train --resume run --steps 14
  [ "$(head -n 3 run/log.jsonl)" = "$(head -n 3 first/log.jsonl)" ] || fail "$(head -n 3 run/log.jsonl)"
done

# A text that is truncated while a run reads it.
runner=exec small_train --steps 1000000 -o cut 2> cut.log &
until grep -q '"step":9,' cut/log.jsonl 2> /dev/null; do sleep 0.1; done
: > cut/train.ids
status=0
wait $! || status=$?
[ $status -eq 1 ] || fail "status $status: $(cat cut.log)"
grep -q 'cut/train.ids was overwritten while in use\|cut/train.ids: it was truncated while in use' cut.log ||
  fail "$(tail -n 3 cut.log)"

# A save by the clock at the last step does not replace its validation.
rm -rf run
small_train --steps 5 --save-every 1000 --save-minutes 0.000001 -o run 2> run.log || fail "$(cat run.log)"
grep -q '"step":5,"validation_loss"' run/log.jsonl || fail 'the last step is not validated'
[ "$(readlink run/best.safetensors)" = model-5.safetensors ] || fail 'no best model'

# Validation can be added.
rm -rf run
(small_texts='--src train.en --tgt train.de'; small_train --steps 2 -o run) 2> run.log || fail "$(cat run.log)"
for steps in 4 6; do
  expect_status 0 tx-train --resume run --steps $steps --save-every 2 --valid-src valid.en --valid-tgt valid.de
  grep -q "\"step\":$steps,\"validation_loss\"" run/log.jsonl || fail "step $steps is not validated"
done
rm run/valid.ids
head -n "$(wc -l < valid.en)" train.en > other.en
expect_status 1 tx-train --resume run --steps 7 --valid-src other.en --valid-tgt valid.de
expect_stderr_contains 'other.en is not the text this run was started with'
