# As a coprocess: each line is answered before the next is sent.
printf 'tx-words 1\n<pad>\n<unk>\n<s>\n</s>\na\nb\n' > list
mkfifo to from
for threads in 1 3; do
  tx-bpe encode --ids --threads $threads -m list < to > from &
  exec 3> to 4< from
  for round in 1 2 3; do
    echo 'a b' >&3
    read -r answer <&4
    [ "$answer" = '4 5' ] || fail "answer '$answer' in round $round"
  done
  exec 3>&-
  wait
  exec 4<&-
done

# A closed pipe ends the filter silently; a full disk is an error.
status=0
(yes 'a b' | tx-bpe encode -m list || echo "status $?" >&2) 2> err | head -1 > out
grep -q 'a b' out || fail "no line"
grep -v '^status 141$' err > rest || true
[ ! -s rest ] || fail "$(cat rest)"
if [ -w /dev/full ]; then
  expect_status 1 sh -c 'echo a | tx-bpe encode -m list > /dev/full'
  expect_stderr_contains 'cannot write standard output: No space left on device'
fi
