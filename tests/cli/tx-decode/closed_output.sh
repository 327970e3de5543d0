# A closed output pipe ends the filter silently, even if its input stays open.
make_model model
mkfifo to
tx-decode -m model < to 2> err | head -n 1 > out &
exec 3> to
printf 'w5\n' >&3
while [ ! -s out ]; do sleep 0.05; done
printf 'w6\nw7\n' >&3 2> /dev/null || true
wait
expect_no_file "$(find . -name err -size +0)"
exec 3>&-
