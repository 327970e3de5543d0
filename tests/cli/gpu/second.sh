# label: gpu
# Runs every part of tests/gpu/second.sh, as first.sh does. Nsight Compute and Python are
# stand-ins.
mkdir stand out
cat > stand/ncu <<'SCRIPT'
#!/bin/sh
echo "profiled, libraries '$LD_LIBRARY_PATH': $*"
while [ "$1" != env ]; do shift; done
exec "$@"
SCRIPT
cat > stand/python <<'SCRIPT'
#!/bin/sh
case $2 in
  'import torch') exit 0 ;;
  import*) exit 1 ;;
esac
[ "$(wc -w < "$2")" -eq "$(wc -w < train.src)" ] || exit 1
echo "python, libraries '$LD_LIBRARY_PATH': $*"
SCRIPT
chmod +x stand/*
export PATH="$PWD/stand:$PATH" OUT=$PWD/out TX_SCALE=400 TX_SECONDS=2400 TX_PATIENCE=20
export PYTHON="$PWD/stand/python" LD_LIBRARY_PATH=/outside
[ -z "${TX_CUBLASLT:-}" ] || export TX_LIBRARIES="$TX_CUBLASLT"
status=0
sh "$TX_SOURCE/tests/gpu/second.sh" "$TX_BUILD" > "$TX_LAST/stdout" 2> "$TX_LAST/stderr" || status=$?
[ $status -ne 77 ] || skip "$(sed "s|^skipped: ||" "$TX_LAST/stderr")"
[ $status -eq 0 ] || fail "status $status: $(grep -e FAIL -e '^-- status [^0]' "$TX_LAST/stdout")"
expect_stdout_file out/gpu-second.txt
for title in 'PyTorch, big, bf16, 62 tokens per side: source + target tokens/s: .*--compile' \
  'one line: kernels loaded when they are needed, or all at the start' 'one worker or two' \
  '6 steps of base --tune' "ncu of .backward in cuda_bench's group attention" \
  "ncu of tensor_kernel in cuda_bench's group tiles" 'products with /.*cublasLt.so.*'; do
  grep -q -- "^-- status 0 after [0-9]* s: $title\$" out/gpu-second.txt || fail "nothing of: $title"
done
for words in 'CUDA_MODULE_LOADING=EAGER' '--threads=2' "python, libraries '/outside'" \
  "profiled, libraries '/outside'" 'has no ctranslate2'; do
  expect_stdout_contains "$words"
done
