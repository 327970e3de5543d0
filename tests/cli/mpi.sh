# For scripts labelled mpi: ranks N COMMAND... runs it as N ranks on this machine, be it short of
# cores, and be it as root in a container.
command -v mpirun > /dev/null || skip "there is no mpirun"
[ -e "$TX_BUILD/lib/libtx-mpi.so" ] || skip "tx was built without MPI"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ranks() {
  count=$1
  shift
  mpirun --oversubscribe --bind-to none -n "$count" "$@"
}
