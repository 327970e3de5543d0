# Input that stalls, arrives byte by byte, or ends inside a line; two filters that answer each
# other line by line.
make_model model
printf 'w5 w6\n\nw7 w8 w9' > in
tx-decode -m model < in > wanted
{
  for byte in w 5 ' ' w; do printf %s "$byte"; done
  sleep 0.5
  printf '6\n'
  sleep 0.5
  printf '\nw7 w'
  sleep 0.3
  printf '8 w9'
} | tx-decode -m model > out
expect_same wanted out

# The second filter translates the first one's output before the next line is sent.
mkfifo to between from
tx-decode -m model --max-extra 5 < to > between &
tx-decode -m model --max-length 20 --max-extra 5 < between > from &
exec 3> to 4< from
for line in 'w5 w6' 'w7' '' 'w8 w9 w10'; do
  printf '%s\n' "$line" >&3
  read -r answer <&4 || fail 'no answer'
  printf '%s\n' "$answer"
done > answers
exec 3>&- 4<&-
wait
printf 'w5 w6\nw7\n\nw8 w9 w10\n' | tx-decode -m model --max-extra 5 |
  tx-decode -m model --max-length 20 --max-extra 5 > wanted
expect_same wanted answers

# A second file that is not there yet, or a --tgt that stalls, does not delay outputs, nor the end
# on a full disk.
mkfifo later
printf 'w5 w6\nw7\n' > in
tx-decode -m model < in > wanted
arrives() { # FILE LINES: within 20 s
  for _ in $(seq 200); do
    [ "$(wc -l < "$1")" -lt "$2" ] || return 0
    sleep 0.1
  done
  fail "$1 has $(wc -l < "$1") lines, not $2"
}
tx-decode -m model in later > out &
arrives out 2
cat in > later
wait $!
cat wanted wanted > twice
expect_same twice out
: > out
tx-decode -m model --tgt later in > out &
exec 3> later
echo w9 >&3
arrives out 1
echo w9 >&3
exec 3>&-
wait $!
[ "$(wc -l < out)" -eq 2 ] || fail 'not two scores'
if [ -e /dev/full ]; then
  awk 'BEGIN { for (i = 0; i < 20000; ++i) print "" }' > blank
  expect_status 1 sh -c 'timeout 20 tx-decode -m model blank later > /dev/full'
fi

# A text that is longer than its translations and never ends.
mkfifo endless
exec 3<> endless
printf 'w5\nw6\n' >&3
echo w9 > one_line
expect_status 1 timeout 20 tx-decode -m model --tgt one_line endless
expect_stdout_lines 1
expect_stderr 'tx-decode: one_line has 1 line, endless has more than 2 lines: line 2 of endless has no counterpart; give files with the same number of lines'
expect_status 1 timeout 20 sh -c 'yes a | tx-bleu one_line'
expect_stderr_contains 'one_line has 1 line, standard input has more than '
exec 3>&-
