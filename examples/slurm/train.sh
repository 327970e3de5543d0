#!/bin/sh
# A training as a job of Slurm, which is queued again and goes on whenever the time limit, a
# preemption or a failed machine ends it:
#   sbatch examples/slurm/train.sh RUN OPTION...
#   sbatch --nodes=4 examples/slurm/train.sh run --preset base --accumulate 8 --src ... --vocab ...
# RUN and OPTION are tx-train's; a RUN with a checkpoint is resumed, with the settings that it has.
# Each task of the job is a rank, for which --accumulate must be large enough. RUN lies where every
# machine sees it. Options of sbatch win over those below. MPI=NAME is how srun starts MPI (pmix, by
# which Open MPI is started). Outside Slurm this trains all the same, on this machine.
#SBATCH --job-name=tx-train
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --time=24:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
# TERM two minutes before the limit: tx-train ends its step and saves, which has to fit in.
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
  # srun does not take the processors of a task from sbatch by itself.
  srun --cpus-per-task="${SLURM_CPUS_PER_TASK-1}" --mpi="${MPI-pmix}" --kill-on-bad-exit "$@" ||
    status=$?
else
  "$@" || status=$?
fi
# 128 + TERM: saved, but not at the end. Slurm does this by itself where a machine failed.
if [ $status -eq 143 ] && [ -n "${SLURM_JOB_ID-}" ]; then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit $status
