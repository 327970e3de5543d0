# A failure to write results is an error; a reader that closes the pipe is not.
for tool in $(tools); do
  status=0
  "$tool" --help > /dev/full 2> message || status=$?
  [ "$status" -eq 1 ] || fail "$tool --help > /dev/full ends with $status"
  grep -q "^$tool: cannot write standard output: No space left" message || fail "$(cat message)"
  status=0
  "$tool" --help >&- 2> message || status=$?
  [ "$status" -eq 1 ] || fail "$tool --help >&- ends with $status"
done
