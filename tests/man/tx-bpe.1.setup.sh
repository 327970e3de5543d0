seq 1 400 | sed 's/.*/twenty-one houses stand near the & rivers/' > train.en
seq 1 400 | sed 's/.*/einundzwanzig Häuser stehen an den & Flüssen/' > train.de
head -n 3 train.en > dev.en
head -n 3 train.de > dev.de
tx-bpe train --vocab-size 500 -o shared.model train.en train.de 2> /dev/null
mkdir run
make_model run/best.safetensors vocabulary shared.model
