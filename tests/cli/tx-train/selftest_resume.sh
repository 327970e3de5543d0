# label: slow
# --selftest-resume kills and resumes a run on the user's text, compares, and leaves no files.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
mkdir temporary
TMPDIR=$PWD/temporary
export TMPDIR
expect_status 0 small_train --selftest-resume
expect_stdout_contains "XXH3"
expect_stdout_contains "state-"
expect_stderr_contains "bit-identical after kill -9 at: model:2, state:1, links:1, pruning:1"
[ -z "$(ls temporary)" ] || fail "it leaves $(ls temporary)"
all=$small_texts small_texts="--src train.en --tgt train.de"
expect_status 0 small_train --selftest-resume
small_texts=$all

small_train --steps 1 -o run 2> /dev/null
expect_usage_error '--selftest-resume cannot be used with --resume' tx-train --selftest-resume --resume run
expect_usage_error "give --src FILE" tx-train --selftest-resume --vocab bpe.model
expect_status 1 small_train --selftest-resume --src missing.en
expect_stderr_contains "missing.en"
[ -z "$(ls temporary)" ] || fail "it leaves $(ls temporary)"

# A signal ends it with the status that tx-train has.
runner=exec
small_train --selftest-resume > out 2> log &
until grep -q 'measuring' log; do sleep 0.05; done
kill -TERM $!
status=0
wait $! || status=$?
[ $status -eq 143 ] || fail "status $status: $(cat log)"
grep -q 'stopped by signal TERM' log || fail "$(cat log)"
[ -z "$(ls temporary)" ] || fail "it leaves $(ls temporary)"
