# The kills of resume_kills.sh, which runs this in a new directory with the functions of
# tests/cli/lib.sh.
. "$TX_SOURCE/tests/cli/train.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
[ "$RANKS" -eq 0 ] || . "$TX_SOURCE/tests/cli/mpi.sh"
small_text
seed=1
if [ "$RANKS" -gt 0 ]; then
  resume_options="$resume_options --device cpu --threads 1 --accumulate 8 --epochs 12"
  for precision in fp32 bf16; do
    whole_run --precision $precision
    printf '%s, 1 to %s ranks: ' $precision "$RANKS"
    random_rank_kills $((KILLS / 2)) $seed "$RANKS"
    seed=$((seed + 1))
    rm -rf whole
  done
  exit
fi
for precision in fp32 bf16; do
  small_train --precision $precision --describe > /dev/null 2>&1 || {
    echo "$precision: not on this machine"
    continue
  }
  for threads in 1 2; do
    whole_run --precision $precision --threads $threads
    printf '%s, threads %s: ' $precision $threads
    random_kills $((KILLS / 4)) $seed
    seed=$((seed + 1))
    rm -rf whole
  done
done
