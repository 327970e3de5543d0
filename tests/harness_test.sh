# The test harness can fail: Boost executables, the functions of lib.sh, check.sh.
cases=$TX_BUILD/tests/harness

expect_status 201 "$cases" --run_test=wrong
expect_status 1 "$cases" --run_test=right,empty
expect_stderr_contains "empty: checks nothing"
expect_stderr_contains "off: is switched off"
expect_stderr_lacks "right: "
"$cases" --run_test=right,elsewhere 2> err || [ $? -eq 1 ]  # "off" is an error whatever is run
grep -q 'elsewhere: skipped, its precondition does not hold' err || fail "$(cat err)"

# fails FUNCTION...: expects it to end the script with status 1.
fails() {
  fails_status=0
  ( "$@" ) 2> /dev/null < /dev/null || fails_status=$?
  [ "$fails_status" -eq 1 ] || fail "should fail: $*"
}
printf 'a\n' > a
printf 'b\n' > b
fails expect_status 0 false
fails expect_status 1 true
expect_status 0 cat a
fails expect_stdout b
fails expect_stdout
fails expect_stdout_file b
fails expect_empty_stdout
fails expect_stdout_contains b
fails expect_stdout_lacks a
fails expect_stdout_lines 2
fails expect_same a b
fails expect_file none
fails expect_no_file a
expect_status 3 sh -c 'echo x >&2; exit 3'
fails expect_stderr y
fails expect_empty_stderr
fails expect_stderr_contains y
fails expect_stderr_lacks x
fails expect_usage_error x sh -c 'echo sh: x >&2; exit 1'
fails expect_usage_error x sh -c 'echo sh: x >&2; exit 2'

# A failure inside a script is a failure of the script; its directory is removed.
printf 'false\ntrue\n' > script.sh
expect_status 1 sh "$TX_SOURCE/tests/cli/run.sh" "$PWD/script.sh"
printf 'mkdir d; : > d/f; chmod 0 d; pwd\n' > script.sh
expect_status 0 sh "$TX_SOURCE/tests/cli/run.sh" "$PWD/script.sh"
expect_no_file "$(last_stdout)"

# check_with LINES STATUS COUNT: runs check.sh on these CTest lines.
check_with() {
  mkdir -p suite
  printf '%s\n' "$1" > suite/CTestTestfile.cmake
  expect_status "$2" sh "$TX_SOURCE/tests/check.sh" suite
  [ "$(last_stdout | tail -n 1)" = "$3" ] || fail "the count is not: $3"
}
good='add_test(good true)'
bad='add_test(bad false)'
missing='add_test(missing /none/such)'
skipping='add_test(skipping sh -c "exit 77")
set_tests_properties(skipping PROPERTIES SKIP_RETURN_CODE 77'
slow='add_test(slow sleep 5)
set_tests_properties(slow PROPERTIES TIMEOUT 1)'
check_with "$good" 0 "1 tests passed, 0 failed, 0 skipped"
check_with "$good
$bad" 1 "1 tests passed, 1 failed, 0 skipped"
check_with "$good
$missing" 1 "1 tests passed, 1 failed, 0 skipped"
check_with "$good
$slow" 1 "1 tests passed, 1 failed, 0 skipped"
check_with "$good
$skipping)" 1 "1 tests passed, 0 failed, 1 skipped"
check_with "$good
$skipping LABELS gpu)" 0 "1 tests passed, 0 failed, 1 skipped"
check_with "$good
$skipping LABELS browser)" 0 "1 tests passed, 0 failed, 1 skipped"
check_with "" 1 "0 tests passed, 0 failed, 0 skipped"
