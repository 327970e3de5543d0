# The same answer in any company also where the libraries see an older processor.
make_model model layers 1 d_model 64 d_ff 96
awk 'BEGIN { for (i = 0; i < 15; ++i) { for (j = 0; j < i % 11; ++j)
  printf "w%d ", 4 + (i * 31 + j * 17) % 56; print "" } }' > in
for forced in DNNL_MAX_CPU_ISA=AVX2 DNNL_MAX_CPU_ISA=AVX512_CORE DNNL_MAX_CPU_ISA=ALL \
  OPENBLAS_CORETYPE=Haswell; do
  for precision in fp32 bf16 int8; do
    expect_status 0 env $forced tx-decode -m model --check-invariance --max-extra 3 --threads 2 \
      --precision $precision < in
    expect_stdout_contains 'verdict: every translation and score is the same in any company'
  done
done
