# Functions of measure.sh, whose parts are reported line by line.

failed=0 status=0
by_line=""
! command -v stdbuf > /dev/null 2>&1 || by_line="stdbuf -oL"

# limit SECONDS: the commands of a part end within SECONDS times TX_PATIENCE=1 from now.
limit() { part_end=$(($(date +%s) + $1 * ${TX_PATIENCE:-1})); }

# part SECONDS TITLE COMMAND...: runs COMMAND for at most SECONDS times TX_PATIENCE, within the
# remaining time, and returns its status. Its output is also in the file `last`.
part() {
  most=$(seconds_left $(($1 * ${TX_PATIENCE:-1}))) title=$2
  left=$((part_end - $(date +%s)))
  [ "$left" -ge "$most" ] || most=$left
  shift 2
  say "" && say "== $title"
  [ "$most" -ge 5 ] || { say "skipped: no time left" && status=0 && return 1; }
  began=$(milliseconds)
  # shellcheck disable=SC2086  # words
  { timeout -k 5 "$most" $by_line "$@" 2>&1; echo $? > status; } | tee last | tee -a "$report"
  status=$(cat status)
  say "-- status $status after $((($(milliseconds) - began) / 1000)) s: $title"
  [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || failed=$((failed + 1))
  return "$status"
}

# under CHECKER OPTION... -- COMMAND...: runs our COMMAND with the bundled libraries under a program
# of the CUDA toolkit, which does not use them.
cat > under.sh <<'SCRIPT'
i=0 count=$#
while [ $i -lt "$count" ]; do
  word=$1
  shift
  i=$((i + 1))
  [ "$word" = -- ] && word=env && set -- "$@" "$word" "LD_LIBRARY_PATH=$LD_LIBRARY_PATH" && continue
  set -- "$@" "$word"
done
LD_LIBRARY_PATH=$TX_OUTSIDE exec "$@"
SCRIPT
TX_OUTSIDE=$outside
export TX_OUTSIDE

ended() {
  say ""
  [ $failed -eq 0 ] || say "$failed FAILED"
  say "written to ${report%/*}"
  [ $failed -eq 0 ]
}
