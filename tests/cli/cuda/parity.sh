# label: gpu
# --parity finds the GPU's step equal to the CPU's, and memory that is too small is told at once.
. "$TX_SOURCE/tests/cli/cuda.sh"
small_text
expect_status 0 small_train --parity --dropout 0.1
expect_stdout_contains "cuda fp32	loss"
expect_stdout_contains "agree with the CPU's fp32"
expect_status 1 small_train --device cuda --batch-tokens 16000000 -o run
expect_stderr_contains "out of GPU memory"
[ ! -e run ] || fail "a run that could not begin has left its directory"
