# For scripts labelled mpi: settings of mpirun for few cores and for root in a container.
command -v mpirun > /dev/null || skip "there is no mpirun"
[ -e "$TX_BUILD/lib/libtx-mpi.so" ] || skip "tx was built without MPI"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Containers may forbid reading another process' memory, and have no fast network.
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl_base_warn_component_unused=0
# Without /sys there is no topology; ignore that.
export HWLOC_HIDE_ERRORS=2
# rank_process N: prints the process id of rank N of the tx-train in this directory, if any.
rank_process() {
  for pid in $(pgrep -x tx-train); do
    [ "$(readlink "/proc/$pid/cwd" || true)" = "$PWD" ] || continue
    ! tr '\0' '\n' 2> /dev/null < "/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$1" || echo "$pid"
  done
}
