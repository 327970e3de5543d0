seq 1 60 | awk '{ print $1 % 10, $1 % 7 }' > train.src
awk '{ print $2, $1 }' train.src > train.tgt
tx-train --quiet --preset toy --layers 1 --d-model 16 --d-ff 16 --heads 2 --vocab words \
  --src train.src --tgt train.tgt --valid-src train.src --valid-tgt train.tgt \
  --steps 4 --save-every 1 --threads 1 -o run
