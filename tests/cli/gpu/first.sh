# label: gpu
# Runs every part of tests/gpu/first.sh with small sizes on an emulated GPU, so that its faults do
# not cost minutes on a real one. compute-sanitizer is a stand-in that prints its arguments.
mkdir stand out
cat > stand/compute-sanitizer <<'SCRIPT'
#!/bin/sh
echo "checked: $2, libraries '$LD_LIBRARY_PATH', $*"
while [ "$1" != env ]; do shift; done
for word; do case $word in --run_test=*) name=${word#*=} ;; esac; done
"$1" "$2" "$3" --list_content 2>&1 | awk -v name="$name" '
  { sub(/[*]$/, "") }
  /^[^ ]/ { suite = $1; next }
  suite "/" $1 == name { found = 1 }
  END { exit !found }'
SCRIPT
chmod +x stand/compute-sanitizer
export PATH="$PWD/stand:$PATH" OUT=$PWD/out TX_SCALE=400 TX_SECONDS=2400 TX_PATIENCE=20
export TX_CASES=pointwise TX_CASE_SECONDS=400 TX_BATCH=200 LD_LIBRARY_PATH=/outside
status=0
sh "$TX_SOURCE/tests/gpu/first.sh" "$TX_BUILD" > "$TX_LAST/stdout" 2> "$TX_LAST/stderr" || status=$?
[ $status -ne 77 ] || skip "$(sed "s|^skipped: ||" "$TX_LAST/stderr")"
[ $status -eq 0 ] || fail "status $status: $(grep -e FAIL -e '^-- status [^0]' "$TX_LAST/stdout")"
expect_stdout_file out/gpu-first.txt
for title in 'the machine' 'each case in its own process' "one step compared with the CPU's" kernels \
  'tx-train, preset base, bf16, 62 tokens per side, 6 steps --tune' \
  'tx-train, preset base, bf16, 62 tokens per side, 6 steps --tune --profile' \
  'tx-train, preset big, bf16, 62 tokens per side, 6 steps --tune' \
  'decoding, base, bf16, beam 4, 3 sentences of 30 tokens, workers: 2' \
  'tx-decode, batches of 16384 source tokens, two overlapping searches' \
  'memcheck of gemm_gpu/training_shapes' 'racecheck of attention_cached/many_rows'; do
  grep -q -- "^-- status 0 after [0-9]* s: $title\$" out/gpu-first.txt || fail "nothing of: $title"
done
for words in 'with --tune' 'cases passed' 'tiles, bf16' 'rates of this GPU' 'tokens/s with start-up' \
  "checked: memcheck, libraries '/outside', --tool memcheck --target-processes all"; do
  expect_stdout_contains "$words"
done

# An unknown part, and no time left.
expect_status 1 sh "$TX_SOURCE/tests/gpu/first.sh" "$TX_BUILD" nothing
expect_stdout_contains "unknown part 'nothing'"
TX_SECONDS=3 expect_status 0 sh "$TX_SOURCE/tests/gpu/first.sh" "$TX_BUILD" kernels
expect_stdout_contains "skipped: no time left"
