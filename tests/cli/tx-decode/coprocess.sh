# Each line is answered before the next is sent; an incomplete line waits for its end.
make_model model
mkfifo to from
tx-decode -m model < to > from &
exec 3> to 4< from
printf 'w5 w6\n' >&3
read -r first <&4
printf 'w5' >&3
sleep 0.3
printf ' w6\n' >&3
read -r second <&4
[ "$first" = "$second" ] || fail 'a line in two parts has another answer'
printf '\n' >&3
read -r third <&4
[ -z "$third" ] || fail 'the blank line'
printf 'w7' >&3
exec 3>&-
read -r fourth <&4
[ -n "$fourth" ] || fail 'the line without newline'
exec 4<&-
wait
