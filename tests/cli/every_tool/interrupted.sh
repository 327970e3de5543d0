# A tool that a signal ends leaves no temporary file and ends by that signal. Before the first
# step there is nothing to save.
printf 'a b c\n' > words_of
tx-bpe train --type words -o words words_of 2> /dev/null
mkfifo slow
ulimit -c 0
for signal in INT TERM HUP QUIT USR1 XCPU ALRM; do
  rm -rf run
  (while :; do echo 'a b c'; sleep 0.01; done) > slow 2> /dev/null &
  writer=$!
  env --default-signal tx-train --src slow --tgt words_of --vocab ./words -o run --threads 2 \
    > out 2> message &
  tool=$!
  until [ -n "$(find run -name '*.tmp' 2> /dev/null)" ]; do
    kill -0 $tool || fail "$(cat message)"
    sleep 0.02
  done
  kill -s $signal $tool
  status=0
  wait $tool || status=$?
  [ "$(kill -l $status)" = $signal ] || fail "status $status after $signal"
  [ -z "$(find run -name '*.tmp*')" ] || fail "temporary files left:  $(find run -name '*.tmp*')"
  kill $writer 2> /dev/null || true
  wait $writer || true
done
# A signal that was ignored at the start (nohup) stays ignored.
# A new pipe: the old one stays open until its last writer's sleep ends.
rm -rf run slow
mkfifo slow
(for i in $(seq 100); do echo 'a b c'; sleep 0.01; done) > slow &
(
  trap '' HUP
  exec tx-bpe encode -m words slow > pieces
) &
tool=$!
sleep 0.3
kill -s HUP $tool
wait $tool || fail "HUP ended the tool although it was ignored"
[ "$(wc -l < pieces)" -eq 100 ] || fail "$(wc -l < pieces) lines"
