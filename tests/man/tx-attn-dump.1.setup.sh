mkdir run
make_model run/best.safetensors
printf 'w5 w6 w7\n\nw8 w9\n' > test.en
printf 'w40\n\nw41 w42\n' > test.de
head -n 1 test.de > first.de
printf 'w5 w6\nw7\n' > dev.en
printf 'w40 w41\nw42\n' > dev.de
printf '0-1 1-0\n0-0\n' > dev.links
cat > qkv.json <<'END'
{"q": [[1, 0], [0, 1], [1, 1]],
 "k": [[1, 0], [0, 1], [1, 1]],
 "v": [[1, 0], [0, 1], [1, 1]], "mask": "causal"}
END
