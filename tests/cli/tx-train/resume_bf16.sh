# As resume_fp32.sh, in bf16 with two threads.
. "$TX_SOURCE/tests/cli/train.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
small_text
whole_run --precision fp32 --threads 2
stop_at model:2 links:4 pruning:3
random_kills 2 2
rm -rf whole
# Nothing to test without bf16 hardware.
small_train --precision bf16 --describe > /dev/null 2>&1 || exit 0
for threads in 1 2; do
  whole_run --precision bf16 --threads $threads
  stop_at state:2 rename:8 best:3
  random_kills 3 3
  rm -rf whole
done
