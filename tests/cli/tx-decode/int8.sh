# int8: quantised at load time or by tx-avg.
. "$TX_SOURCE/tests/cli/small_run.sh"
write_text train 60
train_small run
expect_status 0 tx-avg --to int8 -q -o int8 run
decode='tx-decode --scores --nbest 2 --beam 2 --max-extra 5'
$decode -m run --precision int8 < train.src > made
for how in '' '--precision int8' '--device cpu'; do
  $decode -m int8 $how < train.src > got
  expect_same made got
done
near() { # FILE FILE X: the scores differ by at most X
  paste "$1" "$2" | awk -F '\t' -v max="$3" '{
    d = $1 - $(NF / 2 + 1)
    if (d * d > max * max) exit 1
  }'
}
if TX_MAX_ISA=SSE41 $decode -m int8 < train.src > sse; then  # x86; one_hash.sh tests the others
  near made sse 0.001 || fail 'SSE41 gives another output'
fi

# Scores are close to those of fp32, but not equal.
$decode -m run --precision fp32 < train.src > full
! cmp -s made full || fail 'int8 changes nothing'
near made full 0.2 || fail 'a score is off by more than 0.2'

# The int8 file also works in fp32 and in an ensemble with an fp32 file.
expect_status 0 $decode -m int8 --precision fp32 train.src
expect_status 0 $decode -m int8 -m run train.src

expect_status 1 tx-train --quiet --init int8 --src train.src --tgt train.tgt --steps 1 -o new
expect_stderr_contains 'int8 holds 8-bit weights, which can only decode'
expect_usage_error '--precision int4' tx-decode -m int8 --precision int4

# A model that is overwritten while its weights are mapped is noticed; a rename replaces it safely.
make_model plain
tx-avg --to int8 -q -o live plain
cp live renamed
mkfifo to from
tx-decode -m live < to > from 2> log &
exec 3> to 4< from
answer() {
  echo 'w5 w6' >&3
  read -r line <&4
}
answer
[ -n "$line" ] || fail 'no answer'
first=$line
ln live mapped  # the file that is mapped, under another name
mv renamed live
answer
[ "$line" = "$first" ] || fail 'after a rename'
touch mapped
answer
[ "$line" = "$first" ] || fail 'after the same bytes'
make_model other seed 2
tx-avg --to int8 -q -o changed other
cp changed mapped
! answer || fail "an answer from another model: $line"
exec 3>&- 4<&-
grep -q '^tx-decode: live was overwritten while in use; to replace a file, write the new one under another name and rename it$' \
  log || fail "$(cat log)"
