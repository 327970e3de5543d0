#!/bin/sh
# Trains as a Slurm job that requeues itself and resumes after the time limit, a preemption or the
# failure of a machine:
#   sbatch examples/slurm/train.sh RUN OPTION...
#   sbatch --nodes=4 examples/slurm/train.sh run --preset base --accumulate 8 --src ... --vocab ...
# RUN and OPTION are those of tx-train. A RUN with a checkpoint is resumed with its own settings.
# Each task of the job is a rank, and --accumulate must be at least the number of ranks. RUN must
# be on a shared file system. Options of sbatch override those below. MPI=NAME sets srun's --mpi
# (pmix, for Open MPI). Without Slurm, this trains on the local machine.
#SBATCH --job-name=tx-train
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --time=24:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
# TERM two minutes before the limit, in which tx-train has to finish its step and save.
#SBATCH --signal=TERM@120
set -eu
if [ $# -lt 1 ]; then
  echo "usage: sbatch train.sh RUN OPTION..." >&2
  exit 2
fi
run=$1
shift
if ls "$run"/state-*.safetensors > /dev/null 2>&1; then
  set -- tx-train --resume "$run"
else
  set -- tx-train "$@" -o "$run"
fi

status=0
if [ -n "${SLURM_JOB_ID-}" ]; then
  # srun does not inherit --cpus-per-task from sbatch.
  srun --cpus-per-task="${SLURM_CPUS_PER_TASK-1}" --mpi="${MPI-pmix}" --kill-on-bad-exit "$@" ||
    status=$?
else
  "$@" || status=$?
fi
# 128 + TERM: tx-train has saved a checkpoint. After a node failure Slurm requeues the job itself.
if [ $status -eq 143 ] && [ -n "${SLURM_JOB_ID-}" ]; then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit $status
