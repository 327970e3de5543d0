# Each line is answered before the next is sent.
make_model model
mkfifo to from
tx-attn-dump -m model --digits 1 < to > from &
exec 3> to 4< from
for line in 1 2 3; do
  printf 'w5 w6\n' >&3
  read -r record <&4
  case $record in
    "{\"format_version\":1,"*",\"line\":$line,\"source\":[\"w5\",\"w6\",\"</s>\"],"*) ;;
    *) fail "the answer to line $line" ;;
  esac
done
exec 3>&-
wait
exec 4<&-

# A closed pipe ends the tool silently.
yes w5 | head -n 3000 > many
status=0
tx-attn-dump -m model many 2> err | head -n 1 > out || status=$?
[ "$status" -eq 0 ] && [ ! -s err ] || fail "$(cat err)"
