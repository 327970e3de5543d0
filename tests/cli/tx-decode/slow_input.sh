# Input that stalls, arrives byte by byte, and ends inside a line; two filters that answer each
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

# What the first says the second translates back, and only then the next line is sent.
mkfifo to between from
tx-decode -m model --max-extra 5 < to > between &
tx-decode -m model --max-source 20 --max-extra 5 < between > from &
exec 3> to 4< from
for line in 'w5 w6' 'w7' '' 'w8 w9 w10'; do
  printf '%s\n' "$line" >&3
  read -r answer <&4 || fail 'no answer'
  printf '%s\n' "$answer"
done > answers
exec 3>&- 4<&-
wait
printf 'w5 w6\nw7\n\nw8 w9 w10\n' | tx-decode -m model --max-extra 5 |
  tx-decode -m model --max-source 20 --max-extra 5 > wanted
expect_same wanted answers
