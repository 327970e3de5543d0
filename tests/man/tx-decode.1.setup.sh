make_model one.safetensors seed 1
make_model two.safetensors seed 2
mkdir run
cp one.safetensors run/model-000100.safetensors
ln -s model-000100.safetensors run/best.safetensors
printf 'w5 w6 w7\n\nw8 w9\n' > test.en
printf 'w8 w9\n\nw5\n' > test.de
printf 'w48\nw54 w46\n' > forbidden.txt
{
  printf 'tx-words 1\n<pad>\n<unk>\n<s>\n</s>\n'
  awk 'BEGIN { for (i = 4; i < 60; ++i) print "w" i }'
} > words.list
