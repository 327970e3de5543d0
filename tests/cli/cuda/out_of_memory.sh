# label: gpu
# Too little GPU memory is an error before the first step, with the option that helps, and leaves
# no files; no memory is allocated later.
. "$TX_SOURCE/tests/cli/cuda.sh"
small_text
expect_status 1 small_train --device cuda --batch-tokens 16000000 --d-model 256 -o run
expect_stderr_contains "out of GPU memory"
expect_stderr_contains "this run needs"
expect_stderr_contains "lower --batch-tokens"
[ ! -e run ] || fail "a run that could not start left its directory"
case $(tx-train --version) in *"emulated on the CPU"*) ;; *) exit 0 ;; esac
# All memory is allocated at the start, although batches of hundreds of short sentences follow: if
# allocations fail after N, for growing N, a run either fails at the start or never.
for side in en de; do
  tail -n 3 train.$side | tr '\n' ' ' > long
  for i in 1 2 3; do awk '{ print substr("abcdefgh", NR % 8 + 1, 1) }' train.$side; done > short
  { cat short long && echo; } > train.$side
done
left=12 refused=0
until TX_EMULATED_ALLOCATIONS=$left small_train --device cuda --batch-tokens 1600 --steps 1 \
  --save-every 1 -o run 2> log; do
  grep -q "out of GPU memory: cannot allocate .* MiB, .* are free" log || fail "$(cat log)"
  [ ! -e run ] || fail "allocation $((left + 1)) failed after the start: $(cat log)"
  left=$((left + 1)) refused=$((refused + 1))
done
[ $refused -gt 0 ] || fail "no allocation failed"
[ -e run/model-1.safetensors ] || fail "$(cat log)"
