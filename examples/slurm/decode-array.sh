#!/bin/sh
# Runs parallel.sh as a job array: each job computes a part of the blocks, and the last one joins
# them:
#   sbatch --array=1-16 examples/slurm/decode-array.sh TEXT OUT COMMAND [WORD]...
#   sbatch --array=1-16 examples/slurm/decode-array.sh big.en big.de tx-decode -q -m model
# COMMAND writes one line per line. Slurm runs a copy of this file: submit it from the directory
# that contains examples/, or name that directory: --export=ALL,TX=DIR. A requeued job computes
# its missing blocks; after failed jobs, submit the array again. LINES=1000 makes blocks smaller
# than 10,000 lines; each job needs several blocks. TEXT and OUT must be on a shared file system.
#SBATCH --job-name=tx-decode
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=16
#SBATCH --time=4:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%A-%a.log
set -eu
first=${SLURM_ARRAY_TASK_MIN-1} step=${SLURM_ARRAY_TASK_STEP-1}
part=$(((${SLURM_ARRAY_TASK_ID-1} - first) / step + 1))
examples=$(dirname "$0")/..
[ -e "$examples/parallel.sh" ] || examples=${TX-.}/examples
exec sh "$examples/parallel.sh" -l "${LINES-10000}" --part "$part/${SLURM_ARRAY_TASK_COUNT-1}" "$@"
