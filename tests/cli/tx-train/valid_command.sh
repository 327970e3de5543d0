# --valid-command: accepted output, limits of its output and time; a stop saves the state and ends
# the command at once.
. "$TX_SOURCE/tests/cli/train.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
small_text

# scores COMMAND: prints the distinct scores of a run with that command.
scores() {
  rm -rf run
  small_train --steps 3 --valid-command "$1" -o run 2> run.log || fail "$1: $(cat run.log)"
  sed -n 's/.*"validation_score":\([^,]*\).*/\1/p' run/log.jsonl | sort -u
}
printf 'eins zwei drei vier fünf\n' > ref
printf 'eins zwei drei vier sechs\n' > hyp
bleu=$(tx-bleu --score-only --width 3 ref < hyp)
for command in "tx-bleu --width 3 ref < hyp" "tx-bleu --width 3 --json ref < hyp" \
  "tx-bleu --width 3 --confidence ref < hyp" "tx-bleu --score-only --width 3 ref < hyp"; do
  [ "$(scores "$command")" = "$bleu" ] || fail "$command: $(cat run/log.jsonl)"
done
[ "$(scores 'echo; printf " -1.5e1\r\n\n"')" = -15.0 ] || fail "$(cat run/log.jsonl)"

# no_score SHOWN COMMAND: the run ends with SHOWN, its checkpoint is complete, and the advice works.
# What is a score is tested by tests/unit/train/validator_test.cpp.
no_score() {
  rm -rf run
  expect_status 1 small_train --steps 6 --valid-command "$2" -o run
  expect_stderr_contains "--valid-command printed $1"
  expect_stderr_contains 'it must print one number, or what tx-bleu prints for one metric'
  expect_stderr_contains 'the checkpoint of step 3 is complete; resume with: tx-train --resume run'
  expect_status 0 tx-train --resume run --valid-command 'echo 4'
  [ "$(grep -c validation_score run/log.jsonl)" -eq 2 ] || fail "$2: $(cat run/log.jsonl)"
}
no_score '"BLEU is 27.3"' 'echo BLEU is 27.3'
no_score nothing true
no_score '"TER|nrefs:1' 'tx-bleu --metric ter ref < hyp'
no_score '"y\ny\ny\n' yes

# A command that fails or takes too long loses only its score.
rm -rf run
begin=$(milliseconds)
small_train --steps 6 --valid-timeout 0.5 --valid-command 'case $MODEL in
  *-3.*) echo 7; exit 3 ;; *) sleep 50; echo 8 ;; esac' -o run 2> run.log || fail "$(cat run.log)"
[ $(($(milliseconds) - begin)) -lt 30000 ] || fail 'the time limit was exceeded'
grep -q 'failed with status 3; this checkpoint has no score' run.log || fail "$(cat run.log)"
grep -q 'took longer than --valid-timeout 0.5; this checkpoint has no score' run.log || fail "$(cat run.log)"
! grep -q validation_score run/log.jsonl || fail "$(cat run/log.jsonl)"
refused '--valid-timeout needs --valid-command' --valid-timeout 3

# A stop while it runs: the state is saved, the command and its children are ended, and the run
# resumes bit-identically.
slow='if [ "$SLOW" ]; then echo $$ > pid; trap "" TERM; sleep 40 & wait; sleep 40; fi
  case $MODEL in *-6.*) echo 2 ;; *) echo 1 ;; esac'
small_train --valid-command "$slow" -o whole 2> whole.log || fail "$(cat whole.log)"
for signal in INT TERM; do
  rm -f pid
  export SLOW=1
  runner=exec
  small_train --valid-command "$slow" -o stopped 2> stopped.log &
  runner=
  until [ -s pid ]; do sleep 0.05; done
  begin=$(milliseconds)
# A shell's background job ignores INT, so TERM is used for tx-train.
  kill -s "$signal" $! && { [ $signal != INT ] || kill -s TERM $!; }
  status=0
  wait $! || status=$?
  took=$(($(milliseconds) - begin))
  unset SLOW
  case $status in 130 | 143) ;; *) fail "status $status: $(cat stopped.log)" ;; esac
  [ $took -lt 15000 ] || fail "$signal: it took $took ms"
  [ -s stopped/state-3.safetensors ] || fail 'no state'
  ! kill -0 -- "-$(cat pid)" 2> /dev/null || fail 'the command is still running'
  tx-train --resume stopped 2> stopped.log || fail "$(cat stopped.log)"
  same_run whole stopped
  rm -rf stopped
done

# Models are compared at --save-every, not at --valid-every.
refused 'with --save-every 0 there are none by --valid-command' --steps 0 --patience 1 --save-every 0 \
  --valid-every 5 --valid-command 'echo 1'
