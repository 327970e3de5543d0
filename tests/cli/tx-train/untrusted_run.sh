# A run writes only to its own directory, through no link; a run of somebody else runs no command.
. "$TX_SOURCE/tests/cli/train.sh"
small_text

# start NAME OPTION...: a run in the background, between its first two checkpoints, which are far apart.
start() {
  name=$1
  shift
  runner=exec
  small_train --steps 0 --minutes 2 --save-every 20 --accumulate 50 "$@" -o "$name" 2> "$name.log" &
  runner=
  until [ "$(readlink "$name/last.safetensors")" = model-20.safetensors ]; do
    kill -0 $! || fail "$(cat "$name.log")"
    sleep 0.05
  done
}
# ended TEXT: the run in the background ends by itself with status 1 and this message.
ended() {
  status=0
  wait $! || status=$?
  [ $status -eq 1 ] || fail "status $status: $(cat run.log)"
  grep -qF "$1" run.log || fail "$(cat run.log)"
  ! grep -q 'is complete; resume' run.log || fail "$(cat run.log)"
}

# Its directory was moved, removed or replaced.
small_train --steps 3 -o another 2> another.log || fail "$(cat another.log)"
cp -a another copy
start run
kill -s STOP $!
mv run moved
mv another run
kill -s CONT $!
ended 'run is no longer the directory that this run locked'
diff -r copy run > /dev/null || fail 'the first run wrote to the second'
rm -rf run
expect_status 0 tx-train --resume moved --steps 1000 --minutes 0.01
start run
rm -rf run
ended 'cannot find run/lock: No such file'
expect_no_file run

# Links in place of its files.
small_train -o run 2> run.log || fail "$(cat run.log)"
cp -a run whole
for file in log.jsonl config.json model-15.safetensors state-15.safetensors lock train.ids; do
  echo precious > victim
  mkdir new
  ln -s ../victim new/$file
  ! small_train -o new 2> new.log || fail "$file: $(cat new.log)"
  [ "$(cat victim)" = precious ] || fail "$file"
  rm -rf new victim
  mkdir new
  ln -s ../victim new/$file # dangling
  ! small_train -o new 2> new.log || fail "$file: $(cat new.log)"
  expect_no_file victim
  rm -rf new
done
for file in log.jsonl model-15.safetensors state-15.safetensors flight-13.safetensors; do
  rm -rf run && cp -a whole run
  echo precious > victim
  rm -f run/$file && ln -s ../victim run/$file
  expect_status 0 tx-train --resume run --steps 15
  [ "$(cat victim)" = precious ] || fail "$file"
  [ $file = flight-13.safetensors ] || [ ! -L run/$file ] || fail "$file is a link"
done
rm -rf run victim && cp -a whole run
rm run/train.ids && ln -s ../victim run/train.ids
expect_status 0 tx-train --resume run --steps 15
expect_no_file victim

# Pipes and devices.
for file in config.json log.jsonl model-15.safetensors state-15.safetensors lock train.ids; do
  rm -rf run && cp -a whole run
  rm -f run/$file && mkfifo run/$file
  expect_status 1 timeout 20 tx-train --resume run --steps 15
  expect_stderr_contains "run/$file: is a pipe or a device"
  rm -rf run && mkdir run && mkfifo run/$file
  expect_status 1 timeout 20 tx-train --src train.en --tgt train.de --vocab bpe.model -o run
  expect_stderr_contains "run/$file: is a pipe or a device"
  rm run/$file && ln -s /dev/zero run/$file
  status=0
  timeout 20 tx-train --src train.en --tgt train.de --vocab bpe.model -o run 2> run.log || status=$?
  [ $status -eq 1 ] || [ $status -eq 2 ] || fail "status $status: $(cat run.log)"
done
rm -rf run
small_train --valid-command 'mkfifo run/model-6.safetensors 2> /dev/null; echo 1' -o run \
  2> run.log && fail 'a pipe was replaced'
grep -q 'model-6.safetensors: is a pipe or a device' run.log || fail "$(cat run.log)"

# A command runs only if this user's tx-train wrote it there, or if it is given.
rm -rf run
small_train --steps 3 --valid-command 'touch ran; echo 1' --cache "$PWD/ids" -o run 2> run.log ||
  fail "$(cat run.log)"
rm ran
expect_status 0 tx-train --resume run --steps 6
expect_file_exists() { [ -e "$1" ] || fail "$1 is missing"; }
expect_file_exists ran
rm ran
mv run moved-run
expect_status 0 tx-train --resume moved-run --steps 9
expect_file_exists ran
rm ran
unpack() {
  rm -rf away
  mkdir away
  tar -c moved-run | (cd away && tar -x)
}
for resume in '--resume away/moved-run' '--config away/moved-run -o third' \
  '--config away/moved-run/config.json -o third'; do
  unpack
  # shellcheck disable=SC2086  # words
  expect_status 2 tx-train $resume --steps 12
  expect_stderr_contains "was not written here by your tx-train: check the command, and give it yourself: --valid-command 'touch ran; echo 1'"
  expect_no_file ran
  expect_no_file third
  eval "tx-train $resume --steps 12 $(last_stderr | sed -n 's/.*: \(--valid-command .*\)/\1/p')" \
    2> run.log || fail "$(cat run.log)"
  expect_file_exists ran
  rm -rf ran third
done
sed -i 's/touch ran/touch changed/' moved-run/config.json
expect_status 2 tx-train --resume moved-run --steps 12
expect_stderr_contains 'was not written here by your tx-train'
expect_no_file changed
# --valid-command "" drops it.
expect_status 0 tx-train --resume moved-run --steps 12 --valid-command ''
expect_no_file changed

# It creates no file outside of its directory.
rm -rf ids
mkdir ids
unpack
expect_status 0 tx-train --resume away/moved-run --steps 15
expect_file away/moved-run/train.ids
expect_status 0 tx-train --config away/moved-run --steps 3 -o third
[ -z "$(ls ids)" ] || fail "$(ls ids)"

# Temporary files of others stay; those of a killed run do not.
rm -rf run && cp -a whole run
touch run/.tx-notes.tmp run/.tx-0123456789abcdef.tmp run/.tx-0123456789abcdeg.tmp
ln -s model-12.safetensors run/.tx-0123456789abcde0.tmp
ln -s /etc/passwd run/.tx-0123456789abcde1.tmp
touch run/.tx-fedcba9876543210.tmp
(
  flock 3
  expect_status 0 tx-train --resume run --steps 13
) 3< run/.tx-fedcba9876543210.tmp
[ "$(cd run && ls -d .tx-*)" = '.tx-0123456789abcde1.tmp
.tx-0123456789abcdeg.tmp
.tx-fedcba9876543210.tmp
.tx-notes.tmp' ] || fail "$(ls -a run)"

# A text of the same name, size and time, but with other words, is another text.
rm -rf run ids
small_train --steps 1 --cache ids -o run 2> run.log || fail "$(cat run.log)"
cp -p train.en kept
sed 's/one/two/g' kept > train.en
touch -r kept train.en
small_train --steps 1 --cache ids -o other 2> run.log || fail "$(cat run.log)"
[ "$(find ids -name 'text-*' | wc -l)" -eq 3 ] || fail "$(ls ids)"
! cmp -s run/model-1.safetensors other/model-1.safetensors || fail 'trained on the old words'
