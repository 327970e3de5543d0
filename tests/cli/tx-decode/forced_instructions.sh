# Batch-invariance with an older instruction set forced on the libraries.
make_model model layers 1 d_model 64 d_ff 96
awk 'BEGIN { for (i = 0; i < 15; ++i) { for (j = 0; j < i % 11; ++j)
  printf "w%d ", 4 + (i * 31 + j * 17) % 56; print "" } }' > in
x86="TX_MAX_ISA=AVX2,DNNL_MAX_CPU_ISA=AVX2 TX_MAX_ISA=AVX2 DNNL_MAX_CPU_ISA=AVX2
TX_MAX_ISA=AVX512_CORE,DNNL_MAX_CPU_ISA=AVX512_CORE DNNL_MAX_CPU_ISA=ALL OPENBLAS_CORETYPE=Haswell"
arm='TX_MAX_ISA=NEON TX_MAX_ISA=DOTPROD TX_MAX_ISA=I8MM'
TX_MAX_ISA=none tx-decode -m model in 2>&1 | grep -q NEON && x86=$arm
for forced in $x86; do
  for precision in fp32 bf16 int8; do
    expect_status 0 env $(echo "$forced" | tr , " ") tx-decode -m model --check-invariance --max-extra 3 --threads 2 \
      --precision $precision < in
    expect_stdout_contains 'verdict: translations and scores are batch-invariant'
  done
done

# Each variable has its own readers; an unknown name is an error at the start.
expect_status 0 env TX_MAX_ISA= tx-decode -m model in
last_stdout > usual
expect_status 0 env TX_MAX_ISA=ALL tx-decode -m model in
expect_stdout_file usual
expect_status 1 env TX_MAX_ISA=avx2 tx-decode -m model in
expect_stderr_contains 'tx-decode: TX_MAX_ISA=avx2 is not an instruction set; use one of '
expect_stderr_contains ', ALL'
