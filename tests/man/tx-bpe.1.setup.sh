seq 1 400 | sed 's/.*/twenty-one houses stand near the & rivers/' > train.en
seq 1 400 | sed 's/.*/einundzwanzig Häuser stehen an den & Flüssen/' > train.de
