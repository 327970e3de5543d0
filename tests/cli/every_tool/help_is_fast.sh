# --help takes at most 50 ms in at least one of forty tries (other tests may be running).
[ "${TX_SANITIZE:-OFF}" = OFF ] || exit 0
for tool in $(tools); do
  attempt=0 took=1000
  while [ "$took" -ge 50 ]; do
    attempt=$((attempt + 1))
    [ "$attempt" -le 40 ] || fail "$tool --help takes $took ms"
    begin=$(date +%s%N)
    "$tool" --help > help
    took=$((($(date +%s%N) - begin) / 1000000))
  done
done
