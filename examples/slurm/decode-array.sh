#!/bin/sh
# A text of any length through an array of jobs, each with a part of the blocks of parallel.sh; the
# last to end joins them as OUT:
#   sbatch --array=1-16 examples/slurm/decode-array.sh TEXT OUT COMMAND [WORD]...
#   sbatch --array=1-16 examples/slurm/decode-array.sh big.en big.de tx-decode -q -m model
# COMMAND writes one line per line. Slurm runs a copy of this file: submit from the folder that holds
# examples/, or name it: --export=ALL,TX=FOLDER. A job that starts anew goes on with the blocks that
# it lacks; where jobs failed, the same call does what is left. LINES=1000 makes smaller blocks than
# 10,000 lines: each job needs several. TEXT and OUT lie where every machine sees them.
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
