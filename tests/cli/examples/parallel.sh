# examples/parallel.sh: many processes, in order; no line is lost or duplicated after kill -9;
# several machines, some of which fail; parts.
parallel="$TX_SOURCE/examples/parallel.sh"
make_model model layers 1
awk 'BEGIN { for (i = 0; i < 400; ++i) {
  line = "w" 4 + i % 7
  for (n = 1; n < 2 + i * i % 5; ++n) line = line " w" 4 + i * n % 11
  print i % 50 == 49 ? "" : line
} printf "w5 w6" }' > text # the last line has no newline
# A command with a space and a quote in one of its words.
mkdir "it's here"
cp model "it's here/model.safetensors"
set -- tx-decode -q --threads 1 --beam 2 -m "it's here/model.safetensors"
"$@" < text > whole
[ "$(wc -l < whole)" -eq 401 ] || fail "the text has $(wc -l < whole) translations"
done_blocks() { ls -i out.blocks/out > "$1"; } # with inodes, to detect blocks that are written again

# Four processes: kill all of them at once, as when a machine stops; then only the call.
setsid sh "$parallel" -j 4 -l 5 text out sh -c 'sleep 0.05; exec "$@"' sh "$@" 2> messages &
call=$!
wait_for_blocks() {
  tries=0
  until [ "$(ls out.blocks/out 2> /dev/null | wc -l)" -ge "$1" ]; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || fail "no $1 blocks: $(cat messages)"
    sleep 0.05
  done
}
wait_for_blocks 8
kill -9 -$call
wait $call && fail 'the killed call succeeded'
done_blocks first
expect_no_file out
[ "$(wc -l < first)" -lt 81 ] || fail 'nothing was left to do'
sh "$parallel" -j 4 text out sh -c 'sleep 0.05; exec "$@"' sh "$@" 2> messages &
call=$!
wait_for_blocks $(($(wc -l < first) + 8))
kill -9 $call
wait $call && fail 'the killed call succeeded'
done_blocks second
expect_no_file out
expect_status 0 sh "$parallel" -j 4 text out sh -c 'sleep 0.05; exec "$@"' sh "$@"
expect_stderr_contains 'parallel: 81 of 81 blocks'
expect_same whole out
ls -A out.blocks/out | grep '^\.' > partial && fail "partial blocks are left: $(cat partial)"
done_blocks third
for before in first second; do
  sort $before > sorted
  sort third | comm -23 sorted - > again
  [ ! -s again ] || fail "blocks were written again: $(cat again)"
done

# All blocks are complete and only have to be joined. Another text or command is an error.
rm out
expect_status 0 sh "$parallel" text out sh -c 'sleep 0.05; exec "$@"' sh "$@"
expect_empty_stderr
expect_same whole out
expect_status 1 sh "$parallel" text out "$@"
expect_stderr_contains "belongs to another text or command; to start over, remove it: rm -r 'out.blocks'"
cp text text2
echo w4 >> text2
expect_status 1 sh "$parallel" text2 out sh -c 'sleep 0.05; exec "$@"' sh "$@"
rm -r out out.blocks

# Machines: one is unreachable, one lacks the command, one works in this directory.
cat > reach << 'END'
case $1 in
  away) echo 'no route to host' >&2; exit 255 ;;
  bare) cd /; PATH=/nowhere; eval "$2" ;;
  *) echo "$1" >> here; cd /; sh -c "$2" ;;
esac
END
printf '# machines\naway\n2/bare\n\n2/me@good\n' > machines
export SSH="sh $PWD/reach"
expect_status 0 sh "$parallel" --sshloginfile machines -l 30 text out "$@"
expect_stderr_contains 'away: status 255: no route to host'
expect_stderr_contains 'bare: status 127: '
expect_same whole out
[ "$(sort here | uniq -c | awk '{ print $1, $2 }')" = '14 me@good' ] || fail "machines: $(cat here)"
rm -r out out.blocks
printf 'away\n' > machines
expect_status 1 sh "$parallel" --sshloginfile machines -l 30 text out "$@"
expect_stderr_contains 'parallel: missing blocks: 14; run it again to resume'
expect_no_file out
printf ':\n' > machines # the next call computes them
expect_status 0 sh "$parallel" --sshloginfile machines text out "$@"
expect_same whole out
rm -r out out.blocks

# A block that fails, or has too few lines, does not stop the others.
seq 50 > numbers
expect_status 1 sh "$parallel" -l 10 numbers out sh -c 'awk "/25/ { exit 3 } { print }"'
expect_stderr_contains 'parallel: block aaaac: :: status 3: '
expect_stderr_contains 'parallel: missing blocks: 1; run it again to resume'
expect_no_file out
rm -r out.blocks
expect_status 1 sh "$parallel" -l 10 numbers out grep -v 25
expect_stderr_contains 'the command wrote 9 lines for 10'
[ "$(ls out.blocks/out | wc -l)" -eq 4 ] || fail 'the other blocks are not complete'
expect_no_file out
rm -r out.blocks

# Parts: the last one joins the blocks.
for part in 2 1; do
  expect_status 0 sh "$parallel" --part $part/3 -l 30 text out "$@"
  expect_no_file out
done
expect_stderr_contains 'part 1 of 3 is done; missing blocks of others: 4'
expect_status 0 sh "$parallel" --part 3/3 text out "$@"
expect_same whole out

: > empty
expect_status 0 sh "$parallel" empty out2 "$@"
[ -e out2 ] && [ ! -s out2 ] || fail 'an empty text has an empty translation'
expect_status 1 sh "$parallel" no-text out3 "$@"
for options in '-j 0' '-l x' '--part 3/2' '-x'; do
  expect_status 2 sh "$parallel" $options text out3 "$@"
done
expect_status 2 sh "$parallel" text out3
