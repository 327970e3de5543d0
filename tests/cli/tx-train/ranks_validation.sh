# label: mpi
# Validation over ranks: they share the batches and the lines to translate, and figures, scores
# and bytes are those of one rank. A run stopped during validation resumes on another number of
# ranks.
. "$TX_SOURCE/tests/cli/mpi.sh"
. "$TX_SOURCE/tests/cli/train.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
small_text
printf '\n  \n' >> valid.en # blank lines count as empty translations
printf 'null\nzwei\n' >> valid.de
mpirun="mpirun -q --oversubscribe --bind-to none -n"
resume_options="$resume_options --device cpu --accumulate 4 --valid-metric chrf,bleu,loss"
whole_run
grep -q '"validation_chrf":[1-9]' whole/log.jsonl || fail "nothing was translated"
for count in 2 3; do
  runner="timeout 60 $mpirun $count"
  begin_run || fail "$(cat stopped.log)"
  finish_run "$count ranks"
done

# Rank 0 runs the command once.
runner="timeout 60 $mpirun 3"
small_train --device cpu --accumulate 3 --steps 3 --valid-command 'echo asked >> asked; echo 1' \
  -o commanded 2> /dev/null
[ "$(wc -l < asked)" = 1 ] || fail "it ran $(wc -l < asked) times"

# TERM to rank 0 at any moment.
for delay in 0.6 0.9 1.2; do
  runner="exec timeout 60 $mpirun 3"
  begin_run &
  until ls stopped/state-*.safetensors > /dev/null 2>&1 || ! kill -0 $! 2> /dev/null; do sleep 0.05; done
  sleep $delay
  pid=$(rank_process 0)
  [ -z "$pid" ] || kill -s TERM "$pid" 2> /dev/null || true
  wait $! || true
  runner="timeout 60 $mpirun 2"
  finish_run "TERM after $delay s"
done

# A rank without the validation text.
runner="timeout 60 $mpirun 2"
begin_run || fail "$(cat stopped.log)"
fault="env LD_PRELOAD=$TX_BUILD/tests/libfault.so"
resume="tx-train --resume stopped --epochs 4 --quiet"
# shellcheck disable=SC2086
expect_status 1 timeout 60 $mpirun 1 $resume : -n 1 $fault TX_FAULT="open OTHER /valid.ids 0" $resume
expect_stderr_contains "tx-train: rank 1 on $(hostname): cannot read $PWD/stopped/valid.ids: No such file or directory"
