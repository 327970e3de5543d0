# A run that a limit ended, or that was stopped, and is then extended takes the decisions of one that
# ran at once: the same steps, best model and end by --patience.
. "$TX_SOURCE/tests/cli/train.sh"
small_text

state() { # RUN: step, best step and score, validations since, of its last training state
  file=$1/$(readlink "$1/last.safetensors" | sed s/model/state/)
  grep -ao '"\(step\|best_step\|best_score\|bad_validations\)":[^,}]*' "$file" | sort -u
}
same_decisions() { # RUN
  for run in whole "$1"; do
    {
      readlink "$run/last.safetensors"
      readlink "$run/best.safetensors"
      weights_hash "$run/last.safetensors"
      state "$run"
      (cd "$run" && ls ./*-[0-9]*.safetensors)
    } > "$TX_LAST/$(basename "$run")" || fail "$run"
  done
  cmp -s "$TX_LAST/whole" "$TX_LAST/$1" || fail "$1: $(diff "$TX_LAST/whole" "$TX_LAST/$1")"
}

# The weights hardly change, so that --patience ends the run.
run() {
  small_train --schedule constant --lr 1e-12 --warmup 0 --keep 2 --patience 5 --steps 100 "$@"
}
for kind in valid-every save-every valid-command; do
  case $kind in
    valid-every) set -- --valid-every 4 --save-every 6 ;;
    save-every) set -- --save-every 4 ;;
    valid-command) set -- --save-every 4 --valid-command 'echo 1' ;;
  esac
  rm -rf whole ended-*
  run "$@" -o whole 2> run.log || fail "$(cat run.log)"
  last=$(readlink whole/last.safetensors | tr -dc 0-9)
  [ "$last" -ge 24 ] && [ "$last" -lt 100 ] || fail "patience ends the run at step $last"

  for limit in '--steps 14' '--epochs 1' '--patience 3'; do
    # shellcheck disable=SC2086
    run "$@" $limit -o ended-1 2> run.log || fail "$(cat run.log)"
    expect_status 0 tx-train --resume ended-1 --steps 100 --epochs 0 --patience 5
    same_decisions ended-1
    rm -r ended-1
  done

  for minutes in 0.01 0.03 0.1 1; do
    run "$@" --minutes $minutes -o ended-2 2> run.log && break
    grep -q 'is too short' run.log || fail "$(cat run.log)"
  done
  expect_status 0 tx-train --resume ended-2 --minutes 0
  same_decisions ended-2

  (runner=exec && run "$@" -o ended-3 2> run.log) &
  until grep -q '"step":5,' ended-3/log.jsonl 2> /dev/null; do sleep 0.01; done
  kill -s TERM $! 2> /dev/null || true
  wait $! || true
  expect_status 0 tx-train --resume ended-3
  same_decisions ended-3
done

# The last model is the best of a run that ends between two validations, and remains so when nothing
# is added; extended, the run has the best model of one that ran at once.
rm -rf whole
run() {
  small_train --schedule constant --lr 0.003 --valid-every 4 --save-every 100 --keep 1 "$@" 2> run.log ||
    fail "$(cat run.log)"
}
run --steps 19 -o whole
run --steps 14 -o ended-1
[ "$(readlink ended-1/best.safetensors)" = model-14.safetensors ] || fail "$(ls -l ended-1)"
expect_status 0 tx-train --resume ended-1
expect_stderr_contains 'nothing to do'
[ "$(readlink ended-1/best.safetensors)" = model-14.safetensors ] || fail "$(ls -l ended-1)"
expect_file ended-1/model-12.safetensors
expect_status 0 tx-train --resume ended-1 --steps 19
same_decisions ended-1
# Without a validation before the end, the best model goes when the run is extended.
rm -rf whole ended-1
run --valid-every 50 --steps 14 -o ended-1
[ "$(readlink ended-1/best.safetensors)" = model-14.safetensors ] || fail "$(ls -l ended-1)"
run --valid-every 50 --steps 19 --save-every 17 -o whole
expect_status 0 tx-train --resume ended-1 --steps 19 --save-every 17
[ "$(readlink ended-1/best.safetensors)" = model-19.safetensors ] || fail "$(ls -l ended-1)"
