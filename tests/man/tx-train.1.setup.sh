seq 1 200 | sed 's/.*/number & stands near the house/' > train.en
seq 1 200 | sed 's/.*/die Nummer & steht bei dem Haus/' > train.de
for language in en de; do tail -n 20 train.$language > valid.$language; done
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
