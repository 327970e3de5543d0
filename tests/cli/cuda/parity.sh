# label: gpu
# --parity: the GPU's step equals the CPU's.
. "$TX_SOURCE/tests/cli/cuda.sh"
small_text
expect_status 0 small_train --parity --dropout 0.1
expect_stdout_contains "cuda fp32	loss"
expect_stdout_contains "agree with fp32 on the CPU"
