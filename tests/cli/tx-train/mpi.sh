# label: mpi
# libtx-mpi, for communication between ranks: loaded if mpirun started the process; if it is
# missing, an error says so.
. "$TX_SOURCE/tests/cli/mpi.sh"
expect_status 0 exchange_ranks
expect_stdout alone
for count in 2 3 5; do
  expect_status 0 timeout 60 mpirun --oversubscribe --bind-to none -n $count exchange_ranks
  expect_stdout "$count ranks"
  # MPI calls are limited to 2 GiB; a lower limit tests the splitting of all calls.
  expect_status 0 env TX_MPI_MAX_BYTES=20000 timeout 60 mpirun --oversubscribe --bind-to none -n $count exchange_ranks
  expect_stdout "$count ranks"
done
expect_status 0 tx-train --version
grep -q '^MPI: [A-Z].* v*[0-9]' "$TX_LAST/stdout" || fail "--version lacks the MPI"

mkdir lib
cp -P "$TX_BUILD"/lib/libtx.so* "$TX_BUILD"/lib/libtx-cpu.so lib/
export LD_LIBRARY_PATH="$PWD/lib"
expect_status 0 exchange_ranks
expect_status 1 env OMPI_COMM_WORLD_SIZE=4 exchange_ranks
expect_stderr_contains "exchange_ranks: started as one of 4 ranks, but $PWD/lib/libtx-mpi.so is missing"
expect_status 0 tx-train --version
expect_stdout_contains 'MPI: not built in'
: > lib/libtx-mpi.so
expect_status 1 env PMI_SIZE=4 exchange_ranks
expect_stderr_contains "cannot load $PWD/lib/libtx-mpi.so"
# mpirun of another MPI: each process would run alone.
cp "$TX_BUILD"/lib/libtx-mpi.so lib/
expect_status 1 env PMI_SIZE=4 exchange_ranks
expect_stderr_contains "it was built with another MPI"
