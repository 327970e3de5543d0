# label: gpu
# Attention on a GPU: every quantity, log P and ranks equal the CPU's up to rounding.
. "$TX_SOURCE/tests/cli/cuda.sh"
make_model model
printf 'w5 w6 w9 w11\n\nw7\n' > in
printf 'w9 w8 w10\n\nw4\n' > target
for device in cpu cuda; do
  expect_status 0 tx-attn-dump -m model --device $device --digits 5 --tgt target \
    --what weights,scores,scaled,masked,q,k,v,context,output,log_p -o $device.jsonl in
  sed 's/"rank":\[[^]]*\]//; s/[][{}":,]/ /g' $device.jsonl | tr -s ' ' '\n' > $device.fields
done
[ "$(wc -l < cpu.fields)" -gt 4000 ] || fail 'too few figures'
paste cpu.fields cuda.fields | awk -F '\t' '
  $1 ~ /^-?[0-9.]+$/ && $2 ~ /^-?[0-9.]+$/ { d = $1 - $2; if (d * d > 4e-8) bad = bad " " FNR; next }
  $1 != $2 { bad = bad " " FNR }
  END { if (bad) print "fields" bad; exit bad != "" }' || fail 'the figures of the GPU differ'
expect_status 0 tx-attn-dump -m model --device cuda --stats heads --tgt target in
expect_stdout_lines 25
