# Progress lines: by steps, by the clock, fraction done and estimated end; the advice about a run
# of days works. The clock changes neither weights nor the log.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
common="--precision fp32 --steps 30 --save-every 0 --log-every 10"
small_train $common --log-seconds 0 -o quiet 2> quiet.err
small_train $common --log-seconds 0.000001 -o often 2> often.err

[ "$(grep -c ' tokens/s; ' quiet.err)" -eq 3 ] || fail "lines of --log-every: $(cat quiet.err)"
[ "$(grep -c ' tokens/s; ' often.err)" -eq 30 ] || fail "a line each step: $(cat often.err)"
grep -q 'step 1 of 30, epoch 1: loss .* tokens/s; 3.3 % done$' often.err || fail "$(cat often.err)"
grep -Eq 'step 15 of 30, epoch .*; 50.0 % done, 0:0[0-9]:[0-9]{2} left$' often.err ||
  fail "$(cat often.err)"
for run in quiet often; do
  sed -E 's/"(seconds|tokens_per_second)":[^,}]*//g' $run/log.jsonl > $run.log
  weights_hash $run/model-30.safetensors > $run.hash
done
expect_same quiet.log often.log
expect_same quiet.hash often.hash

# A run of days gives a warning, even with -q. Its advice works.
runner=exec
small_train --steps 1000000000 --save-every 0 --log-every 100 -q -o long 2> long.err &
pid=$!
runner=
for _ in $(seq 600); do
  ! grep -q 'at this speed' long.err || break
  sleep 0.1
done
kill -TERM $pid
wait $pid || true
warning='at this speed the run will end in about [0-9]* days; train a smaller model with --preset tiny, or
 end it earlier with --steps or --minutes, also with --resume'
grep -q "warning: $(echo "$warning" | tr -d '\n')\$" long.err || fail "$(cat long.err)"
expect_status 0 tx-train --resume long --steps 100000000 --minutes 0.000001
expect_status 0 tx-train --resume long --steps 5
expect_stderr_contains "nothing to do"
expect_status 0 tx-train --preset tiny --vocab words --src train.en --tgt train.de --steps 1 -o tiny
expect_status 0 sh -c "echo one | tx-decode -m tiny"

# The last line names the best model and the next command.
expect_status 0 small_train -o best
at=$(readlink best/best.safetensors | tr -dc 0-9)
tail -n 1 "$TX_LAST/stderr" |
  grep -q "^tx-train: best model: validation loss [0-9.]* at step $at; translate with: tx-decode -m best\$" ||
  fail "$(last_stderr)"
expect_stderr_lacks "the two texts differ"
expect_status 0 tx-train --preset toy --vocab words --src train.en --tgt train.de --steps 1 -o plain
[ "$(tail -n 1 "$TX_LAST/stderr")" = "tx-train: translate with: tx-decode -m plain" ] ||
  fail "$(last_stderr)"
expect_status 0 tx-train --kind decoder --preset toy --vocab words --src train.en --steps 1 -o language
[ "$(tail -n 1 "$TX_LAST/stderr")" = "tx-train: continue text with: tx-decode -m language" ] ||
  fail "$(last_stderr)"

# Sorted text: its last lines ("s ...") differ from the others ("a ..." to "m ...").
for letter in a b c d e f g h i j k l m s; do
  seq 1 30 | sed "s/.*/$letter$letter &$letter $letter/"
done > sorted.src
awk '{ print $3, $2, $1 }' sorted.src > sorted.tgt
for side in src tgt; do
  head -n 390 sorted.$side > head.$side
  tail -n 30 sorted.$side > tail.$side
done
expect_status 0 tx-train --preset toy --vocab bpe.model --src head.src --tgt head.tgt --valid-src tail.src \
  --valid-tgt tail.tgt --threads 1 --precision fp32 --steps 60 --warmup 5 --save-every 10 -o tail
[ "$(grep -c 'warning: validation perplexity is .* times the training perplexity after so few epochs' "$TX_LAST/stderr")" = 1 ] ||
  fail "$(last_stderr)"

# On a terminal of 80 columns the line shows the time left.
if script -qec true /dev/null < /dev/null > pty 2>&1; then
  TERM=xterm script -qec "tx-train $small_texts --vocab bpe.model --preset toy --threads 1 --steps 100000 \
    --minutes 0.03 -o live" /dev/null < /dev/null | tr '\r' '\n' > live.log
  grep -Eq '^tx-train: step [0-9]+( of 100000)?; [0-9.]+ % [^,]*, [^ ]+ left  loss ' live.log ||
    fail "$(head -n 40 live.log)"
fi
