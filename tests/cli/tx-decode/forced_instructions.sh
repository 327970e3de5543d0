# The same answer in any company also where the libraries see an older processor.
make_model model d_model 64 d_ff 96
awk 'BEGIN { for (i = 0; i < 40; ++i) { for (j = 0; j < i % 11; ++j)
  printf "w%d ", 4 + (i * 31 + j * 17) % 56; print "" } }' > in
for isa in AVX2 AVX512_CORE ALL; do
  for core in Haswell ''; do
    expect_status 0 env DNNL_MAX_CPU_ISA=$isa ${core:+OPENBLAS_CORETYPE=$core} \
      tx-decode -m model --check-invariance --max-extra 5 --threads 2 < in
    expect_stdout_lines 4
  done
done
