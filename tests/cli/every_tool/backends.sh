# BLAS, oneDNN and OpenMP are loaded with the library of the CPU kernels, which a tool opens when
# it computes: libtx does not link them, and text tools and --help never load them.
[ "$TX_SANITIZE" != ON ] || exit 0 # the sanitizers need more memory and their own libraries
heavy='libopenblas|libgomp|libdnnl|libOpenCL|libcudart|libtx-cpu|libtx-cuda|libmpi'
ldd "$TX_BUILD/lib/libtx.so" > needed
! grep -E "$heavy" needed || fail "libtx.so links them"

# loads COMMAND...: prints the libraries that it loads.
loads() {
  LD_DEBUG=files "$@" 2>&1 > /dev/null < /dev/null | sed -n 's/.*calling init: //p'
}
printf 'a b c d e\n' > text
tx-bpe train --type words -o words text 2> /dev/null
for tool in $(tools); do
  ! loads "$tool" --help | grep -E "$heavy" || fail "$tool --help loads it"
done
! loads tx-bleu --confidence text -i text | grep -E "$heavy" || fail "tx-bleu loads it"
! loads tx-bpe encode -m words text | grep -E "$heavy" || fail "tx-bpe loads it"
loads tx-avg --version | grep -q libtx-cpu.so || fail "loads() detects nothing"

# Text tools also work with too little memory for BLAS; other tools report it.
for kib in 150000 200000; do
  (
    ulimit -v $kib
    for tool in $(tools); do
      expect_status 0 timeout 60 "$tool" --help
      expect_status 0 timeout 60 "$tool" --version
    done
    expect_status 0 timeout 60 tx-bleu --score-only text -i text
    expect_stdout 100.0
    expect_status 0 timeout 60 tx-bpe encode -m words text
    expect_stdout 'a b c d e'
  )
done

# Variables that those libraries read: set unless the user has set them, and not inherited by child
# processes.
unset OMP_WAIT_POLICY GOMP_SPINCOUNT
spins() { env OMP_DISPLAY_ENV=verbose "$@" tx-avg --version 2>&1 | grep -o "GOMP_SPINCOUNT = '[0-9]*'"; }
if loads tx-avg --version | grep -q libgomp; then
  [ "$(spins)" = "GOMP_SPINCOUNT = '600'" ] || fail "$(spins)"
  [ "$(spins GOMP_SPINCOUNT=77)" = "GOMP_SPINCOUNT = '77'" ] || fail "$(spins GOMP_SPINCOUNT=77)"
  [ "$(spins OMP_WAIT_POLICY=passive)" = "GOMP_SPINCOUNT = '0'" ] || fail "OMP_WAIT_POLICY is overridden"
fi
blas() { env "$@" tx-avg --version | sed -n 's/^BLAS: .* kernels //p'; }
if grep -qw avx512vl /proc/cpuinfo; then
  kernels='SkylakeX|Cooperlake|SapphireRapids'
elif grep -qw avx2 /proc/cpuinfo; then
  kernels='Haswell|Zen'
else
  kernels=.
fi
blas -u OPENBLAS_CORETYPE | grep -qE "$kernels" || fail "$(blas -u OPENBLAS_CORETYPE)"
[ "$(blas OPENBLAS_CORETYPE=Nehalem)" = Nehalem ] || fail "OPENBLAS_CORETYPE is overridden"

# --precision auto: bf16 where its instructions are fast.
unset TX_MAX_ISA DNNL_MAX_CPU_ISA
has() { grep -qw "$1" /proc/cpuinfo; }
if has amx_bf16; then
  wanted='bf16, AMX'
elif has avx512_bf16 && has GenuineIntel; then
  wanted='fp32, bf16 is slower on this processor'
elif has avx512_bf16; then
  wanted='bf16, AVX-512 BF16'
else
  wanted='fp32, no bf16 instructions'
fi
precision() { env "$@" tx-avg --version | sed -n 's/^--precision auto: //p'; }
[ "$(precision)" = "$wanted" ] || fail "auto is $(precision), not $wanted"
[ "$(precision TX_MAX_ISA=AVX2)" = 'fp32, no bf16 instructions' ] || fail "$(precision TX_MAX_ISA=AVX2)"

. "$TX_SOURCE/tests/cli/train.sh"
small_text
unset OPENBLAS_NUM_THREADS OPENBLAS_CORETYPE
small_train -o run --steps 1 --valid-command 'env > after; echo 1' 2> /dev/null
for name in GOMP_SPINCOUNT OPENBLAS_NUM_THREADS OPENBLAS_CORETYPE; do
  ! grep "^$name" after || fail "a child inherits it"
done
expect_file after

# A library that is missing, invalid or of another version: one line that says what to do.
mkdir lib
cp -P "$TX_BUILD"/lib/libtx.so* "$TX_BUILD"/lib/libtx-*.so lib/
export LD_LIBRARY_PATH="$PWD/lib"
small_decode() { tx-decode -m run --device cpu text; }
expect_status 0 small_decode
: > lib/libtx-cpu.so
expect_status 1 small_decode
expect_stderr "tx-decode: cannot load $PWD/lib/libtx-cpu.so: file too short"
rm lib/libtx-cpu.so
expect_status 1 small_decode
expect_stderr_contains "tx-decode: cannot load $PWD/lib/libtx-cpu.so: cannot open shared object file"
expect_stderr_contains "reinstall tx"
expect_status 0 tx-decode --version
expect_stdout_contains "CPU: cannot load $PWD/lib/libtx-cpu.so"
cp "$TX_BUILD/tests/libfault.so" lib/libtx-cpu.so
expect_status 1 small_decode
expect_stderr_contains "undefined symbol: tx_cpu"
