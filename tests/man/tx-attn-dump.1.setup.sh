mkdir run
make_model run/best.safetensors
printf 'w5 w6 w7\n\nw8 w9\n' > test.en
printf 'w40\n\nw41 w42\n' > test.de
head -n 1 test.de > first.de
