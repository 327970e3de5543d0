# label: gpu
# On the GPU, killed during saves and at random and resumed: bit-identical to an uninterrupted
# run.
. "$TX_SOURCE/tests/cli/cuda.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
small_text
whole_run --precision bf16 --device cuda
stop_at model links
random_kills 1 1
