# label: mpi
# A rank that fails at any point ends the run on all ranks within 30 s, with one message that has
# its number, its machine and the cause. With -q mpirun adds nothing.
. "$TX_SOURCE/tests/cli/mpi.sh"
. "$TX_SOURCE/tests/cli/train.sh"
host=$(hostname)
quiet="timeout 60 mpirun -q --oversubscribe --bind-to none"
fails() ( # NAME STATUS MESSAGE COMMAND...: expects only this message
  mkdir -p "last-$1"
  TX_LAST=$PWD/last-$1 wanted_status=$2 message=$3
  shift 3
  begin=$(date +%s)
  expect_status "$wanted_status" "$@"
  expect_stderr "$message"
  [ $(($(date +%s) - begin)) -le 30 ] || fail "it took more than 30 s: $*"
)

# Ranks that only exchange data. "stopped" simulates a machine that is gone. Cases that mostly
# sleep run in the background.
ranks() { # RANKS WHEN FAILING
  $quiet -n "$1" failing_ranks "$2" "$3"
}
silent="has not responded for 20 s: its process is stopped, or its machine or the network is down"
dead="ended without an error message: it was probably killed"
planned="this was planned"
aside() { "$@" && echo "$2" >> aside; }
: > aside
aside fails stopped 1 "failing_ranks: rank 2 on $host $silent" ranks 4 stopped 2 &
aside fails silent-0 1 "failing_ranks: rank 0 on $host $silent" ranks 3 stopped 0 &
aside fails busy-0 1 "failing_ranks: rank 1 on $host: $planned" ranks 2 rank-0-busy 1 &
aside fails busy 0 "failing_ranks: all is well" ranks 2 long 1 & # sends heartbeats, and is waited for
fails before 1 "failing_ranks: rank 2 on $host: $planned" ranks 4 before 2
fails all 1 "failing_ranks: rank 0 on $host: $planned" ranks 4 before -1
fails joined 1 "failing_ranks: rank 0 on $host: $planned" ranks 3 joined 0
fails later 1 "failing_ranks: rank 2 on $host: $planned" ranks 4 later 2
fails killed 137 "failing_ranks: rank 2 on $host $dead" ranks 4 killed 2
fails killed-0 137 "failing_ranks: rank 0 on $host $dead" ranks 4 killed 0

# Training: rank 0 with a full disk; another rank with a damaged copy of the ids, or none; another
# version of tx.
small_text
options="tx-train $small_texts --vocab bpe.model --layers 1 --d-model 16 --heads 2 --d-ff 16
  --device cpu --threads 1 --precision fp32 --batch-tokens 200 --accumulate 4 --dropout 0.1"
fault="env LD_PRELOAD=$TX_BUILD/tests/libfault.so"
expect_status 1 $quiet -n 1 $fault TX_FAULT="write ENOSPC /run/ 60000" $options --steps 9 --quiet -o run : \
  -n 2 $options --steps 9 --quiet -o run
[ "$(wc -l < "$TX_LAST/stderr")" = 1 ] || fail "more than one message"
expect_stderr_contains "tx-train: rank 0 on $host: cannot write run/model-0.safetensors: No space left on device"
[ ! -e run ] || fail "a failed start left files"

expect_status 0 $quiet -n 2 $options --steps 3 --quiet -o run
expect_empty_stderr
resume="tx-train --resume run --steps 6 --quiet"
other_copy() { # MESSAGE: expects it from rank 2 about run/train.ids.other
  fails copy 1 "tx-train: rank 2 on $host: $1" \
    $quiet -n 2 $resume : -n 1 $fault TX_FAULT="open OTHER /train.ids 0" $resume
}
other_copy "cannot read $PWD/run/train.ids: No such file or directory"
# One id differs, and the end of the file is intact.
byte=$(od -An -tu1 -j 100 -N 1 run/train.ids)
cp run/train.ids run/train.ids.other
printf "\\$(printf %o $((byte ^ 1)))" | dd of=run/train.ids.other bs=1 seek=100 conv=notrunc 2> /dev/null
other_copy "$PWD/run/train.ids: the id cache is truncated or damaged (checksum); delete it to rebuild it from the text"
head -n 390 train.en > short.en
head -n 390 train.de > short.de
expect_status 0 $options --src short.en --tgt short.de --steps 1 --quiet -o short
cp short/train.ids run/train.ids.other
other_copy "$PWD/run/train.ids differs from the text of rank 0"
cp run/train.ids run/train.ids.other
expect_status 0 $quiet -n 2 $resume : -n 1 $fault TX_FAULT="open OTHER /train.ids 0" $resume

mkdir lib
cp "$TX_BUILD"/lib/libtx.so.0 "$TX_BUILD"/lib/libtx-*.so lib/
commit=$(tx-train --version | sed -n 's/.*(commit \([^)]*\)).*/\1/p')
other=$(echo "$commit" | tr 0-9a-f 1-9a-f0)
LC_ALL=C sed "s/$commit/$other/g" "$TX_BUILD"/lib/libtx.so.0 > lib/libtx.so.0
version=$(tx-train --version | sed -n 's/^tx-train \([^ ]*\) .*/\1/p')
fails version 1 "tx-train: rank 1 on $host: tx $version (commit $other), but rank 0 runs tx $version (commit $commit)" \
  $quiet -n 1 $resume : -n 1 env LD_LIBRARY_PATH="$PWD/lib" $resume

# Eight ranks print as one.
for option in --version --help "--describe --device cpu"; do
  expect_status 0 tx-train $option
  lines=$(wc -l < "$TX_LAST/stdout")
  expect_status 0 $quiet -n 8 tx-train $option
  [ "$(wc -l < "$TX_LAST/stdout")" -lt $((lines * 2)) ] || fail "$option is printed more than once"
done
fails unknown 2 "tx-train: unknown option --stpes; did you mean --steps?
tx-train: try tx-train --help" $quiet -n 8 tx-train --stpes 3
expect_status 0 $quiet -n 4 $options --parity
[ "$(grep -c '^cpu fp32' "$TX_LAST/stdout")" = 1 ] || fail "not one table"

fails describe 1 "tx-train: cannot read nothere.model: No such file or directory" \
  $quiet -n 3 tx-train --describe --preset toy --vocab nothere.model

# TERM to mpirun saves and ends the run, which resumes bit-identically on another number of ranks.
# The directory of a running run is an error.
expect_status 0 $options --steps 4 --quiet -o stopped
cp -r stopped whole
mpirun -q --mca odls_base_sigkill_timeout 3 --oversubscribe --bind-to none -n 3 tx-train \
  --resume stopped --steps 100000 --quiet 2> said &
pid=$!
until grep -q '"step":9' stopped/log.jsonl; do sleep 0.1; done
expect_status 1 $quiet -n 2 tx-train --resume stopped
expect_stderr "tx-train: rank 0 on $host: stopped is in use by another tx-train: wait for it to end, or stop it"
kill -TERM $pid
! wait $pid || fail "mpirun ended without an error"
[ ! -s said ] || fail "$(cat said)"
saved=$(readlink stopped/last.safetensors | tr -dc 0-9)
[ "$saved" -gt 4 ] || fail "it was not saved"
steps=$((saved + 20))
expect_status 0 $quiet -n 4 tx-train --resume stopped --steps $steps --quiet
expect_status 0 tx-train --resume whole --steps $steps --quiet
for file in model-$steps state-$steps; do
  cmp whole/$file.safetensors stopped/$file.safetensors >&2 || fail "$file differs"
done

wait
for name in stopped silent-0 busy-0 busy; do
  grep -qx $name aside || fail "$name: see above"
done
