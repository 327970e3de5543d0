mkdir run
make_model run/best.safetensors
printf 'w5 w6 w7\n\nw8 w9\n' > test.en
