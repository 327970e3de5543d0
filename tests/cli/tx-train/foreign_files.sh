# Files that a run would overwrite but did not write are errors, and are kept.
. "$TX_SOURCE/tests/cli/train.sh"
small_text

foreign() { # FILE CONTENT
  mkdir here
  printf '%s\n' "$2" > "here/$1"
  printf '%s\n' "$2" > before
  expect_status 2 small_train -o here
  expect_stderr_contains "here/$1 was not written by tx-train"
  expect_same "here/$1" before
  [ "$(ls -A here)" = "$1" ] || fail "$(ls -A here)"
  rm -rf here
}
foreign config.json '{"name": "mine"}'
foreign config.json 'not JSON'
foreign train.ids '1 2 3'
foreign valid.ids ''
foreign log.jsonl '{"time": 1}'
foreign best.safetensors 'a copy of the best'
foreign model-7.safetensors 'a model without its run'

# Files under other names are ignored.
mkdir here
echo mine > here/model-notes.txt
echo mine > here/config.yaml
expect_status 0 small_train --steps 1 -o here
[ "$(cat here/model-notes.txt here/config.yaml | sort -u)" = mine ] || fail "$(ls here)"

expect_status 2 small_train -o -
expect_stderr_contains 'a run is a directory and cannot be written to standard output'
expect_no_file ./-

# Training text that is overwritten in place, not replaced, ends the run.
runner=exec
small_train --steps 1000000 --save-every 1000000 -o live 2> log &
until grep -q 'step 2' log; do sleep 0.05; done
head -c "$(wc -c < live/train.ids)" /dev/zero | tr '\0' '\356' | dd conv=notrunc of=live/train.ids 2> dd.log
status=0
wait $! || status=$?
[ $status -eq 1 ] || fail "status $status: $(cat log)"
grep -q 'tx-train: live/train.ids was overwritten while in use' log || fail "$(cat log)"
