# Batch-invariance with an older instruction set forced on the libraries.
make_model model layers 1 d_model 64 d_ff 96
awk 'BEGIN { for (i = 0; i < 15; ++i) { for (j = 0; j < i % 11; ++j)
  printf "w%d ", 4 + (i * 31 + j * 17) % 56; print "" } }' > in
for forced in 'TX_MAX_ISA=AVX2 DNNL_MAX_CPU_ISA=AVX2' TX_MAX_ISA=AVX2 DNNL_MAX_CPU_ISA=AVX2 \
  'TX_MAX_ISA=AVX512_CORE DNNL_MAX_CPU_ISA=AVX512_CORE' DNNL_MAX_CPU_ISA=ALL \
  OPENBLAS_CORETYPE=Haswell; do
  for precision in fp32 bf16 int8; do
    expect_status 0 env $forced tx-decode -m model --check-invariance --max-extra 3 --threads 2 \
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
expect_stderr 'tx-decode: TX_MAX_ISA=avx2 is not an instruction set; use one of SSE41, AVX2, '\
'AVX2_VNNI, AVX512_CORE, AVX512_CORE_VNNI, AVX512_CORE_BF16, AVX512_CORE_AMX, ALL'
