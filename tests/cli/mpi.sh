# For scripts labelled mpi: what mpirun needs on a machine that is short of cores, be it as root in a
# container.
command -v mpirun > /dev/null || skip "there is no mpirun"
[ -e "$TX_BUILD/lib/libtx-mpi.so" ] || skip "tx was built without MPI"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# A container may forbid one process to read another's memory, and has no fast network.
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl_base_warn_component_unused=0
# A system without /sys has no topology to tell, which is no fault here.
export HWLOC_HIDE_ERRORS=2
# rank_process N: the number of the tx-train in this folder that is rank N; nothing where there is none.
rank_process() {
  for pid in $(pgrep -x tx-train); do
    [ "$(readlink "/proc/$pid/cwd" || true)" = "$PWD" ] || continue
    ! tr '\0' '\n' 2> /dev/null < "/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$1" || echo "$pid"
  done
}
