# Functions for scripts that stop and resume a run; read after train.sh.

# whole_run OPTION...: the uninterrupted run, in `whole`. Two epochs of two batches per step,
# dropout, validation and patience, a shuffle window that is never empty.
whole_run() {
  options=$*
  # shellcheck disable=SC2086  # a list of words
  small_train $options $resume_options -o whole 2> whole.log || fail "$(cat whole.log)"
}
resume_options="--steps 0 --epochs 2 --accumulate 2 --batch-tokens 160 --dropout 0.2
  --attention-dropout 0.1 --save-every 3 --valid-every 2 --patience 9 --keep 2"

# begin_run: starts the same run in `stopped`, to be stopped by TX_FAILPOINT or a signal.
begin_run() {
  # shellcheck disable=SC2086
  small_train $options $resume_options -o stopped 2> stopped.log
}

# resume_run: resumes it.
resume_run() {
  $runner tx-train --resume stopped 2> stopped.log
}

# continue_run: resumes it or, if it has no checkpoint yet, restarts it.
continue_run() {
  for state in stopped/state-*.safetensors; do
    if [ -e "$state" ]; then resume_run; else begin_run; fi
    return
  done
}

# finish_run WHAT: continues it to its end and compares it with the uninterrupted run.
finish_run() {
  continue_run || fail "after $1: $(cat stopped.log)"
  same_run whole stopped || fail "after $1"
  rm -rf stopped
}

# stop_at FAILPOINT...: for each, kills a run there and finishes it.
stop_at() {
  for place in "$@"; do
    status=0
    TX_FAILPOINT=$place begin_run || status=$?
    [ $status -eq 137 ] || fail "status $status instead of 137 at $place"
    finish_run "$place"
  done
}

milliseconds() { echo $(($(date +%s%N) / 1000000)); }

# count_end: waits for the run $!, which was killed or ended before the kill.
count_end() {
  status=0
  wait $! 2> /dev/null || status=$?
  case $status in
    0) finish_run "kills" && runs=$((runs + 1)) ;;
    137) hits=$((hits + 1)) ;;
    *) fail "status $status: $(cat stopped.log)" ;;
  esac
}

# random_kills COUNT SEED: kill -9 at COUNT random moments of a run. A run is killed and continued
# until it ends before the kill, and is then compared; only kills of running processes count.
random_kills() {
  begin=$(milliseconds)
  begin_run || fail "$(cat stopped.log)"
  finish_run "no kill"
  took=$(($(milliseconds) - begin))
  hits=0 tries=0 runs=1 random=$2
  while [ $hits -lt "$1" ]; do
    tries=$((tries + 1))
    [ $tries -le $((20 * $1 + 20)) ] || fail "only $hits of $tries kills came before the end"
    random=$((random * 16807 % 2147483647))
    moment=$((random % took))
    runner=exec
    continue_run &
    runner=
    sleep "$((moment / 1000)).$(printf %03d $((moment % 1000)))"
    kill -9 $! 2> /dev/null || true
    count_end
  done
  finish_run "the last kill"
  echo "$hits kills, $((runs + 1)) runs compared"
}

# random_rank_kills COUNT SEED RANKS: the same over 1 to RANKS ranks (mpi.sh), killing one of them.
random_rank_kills() {
  hits=0 tries=0 runs=0 random=$2
  next() { # MAX: sets a random number from 0 to below MAX
    random=$((random * 16807 % 2147483647))
    drawn=$((random / 65536 % $1))
  }
  while [ $hits -lt "$1" ]; do
    tries=$((tries + 1))
    [ $tries -le $((20 * $1 + 20)) ] || fail "only $hits of $tries kills came before the end"
    next "$3"
    ranks=$((drawn + 1))
    runner="exec mpirun -q --oversubscribe --bind-to none -n $ranks"
    continue_run &
    runner=
    next 3000
    sleep "$((drawn / 1000)).$(printf %03d $((drawn % 1000)))"
    next $ranks
    victim=$(rank_process $drawn)
    [ -z "$victim" ] || kill -9 "$victim" 2> /dev/null || true
    count_end
  done
  finish_run "the last kill"
  echo "$hits kills, $((runs + 1)) runs compared"
}
