# --profile: groups of kernels with times, lower bounds and calls.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
expect_status 0 small_train --steps 3 --precision fp32 --profile --device cpu -q -o run
expect_stderr_lacks 'step 3'  # -q only suppresses progress
expect_stderr_contains 'rates of this CPU, '
expect_stderr_contains 'GFLOP/s in bf16'
expect_stderr_contains 'forward '
profile=$(sed -n 's/.*: \([a-z].*calls.* ms, floor .* %\)$/\1/p' "$TX_LAST/stderr")
for group in 'products, fp32' 'attention, backward' 'attention ' 'norm, backward' 'norm ' loss optimizer \
  'embedding ' 'embedding, backward'; do
  echo "$profile" | grep -q "^$group" || fail "no group '$group' in: $profile"
done
# Three steps of one encoder and one decoder layer; the dry run does not count.
calls=$(echo "$profile" | sed -n 's/^attention, backward *\([0-9]*\) calls.*/\1/p')
[ "$calls" = 9 ] || fail "attention was computed backward $calls times in three steps"

# Time outside kernels is a line of its own, so that the lines add up.
all=$(grep -Eo '[0-9.]+ ms(, floor.*)?$' "$TX_LAST/stderr" | cut -d' ' -f1)
whole=$(echo "$all" | tail -n 1)
grep -qE "(^|: )total +$whole ms\$" "$TX_LAST/stderr" || fail "the last line is not the total: $all"
echo "$all" | awk -v whole="$whole" 'length(last) { sum += last } { last = $1 }
  END { exit !(sum > whole - 0.1 && sum < whole + 0.1) }' || fail "the lines do not add up: $all"

# Gates and rotations are included: forward and backward in two layers, rotations of queries and
# keys in two self-attentions.
pointwise() { sed -n 's/.*: pointwise *\([0-9]*\) calls.*/\1/p' "$TX_LAST/stderr"; }
plain=$(pointwise)
expect_status 0 small_train --steps 3 --profile --device cpu --positions rotary -o rotary
rotary=$(pointwise)
[ $((rotary - plain)) -eq $((3 * 2 * 2 * 2)) ] || fail "$rotary calls with rotations, $plain without"
