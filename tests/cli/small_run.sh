# For tests that need a trained model of any quality: a text and short runs.

# write_text NAME LINES: writes NAME.src, and NAME.tgt with the words of each line exchanged.
write_text() {
  seq 1 "$2" | awk '{ print "w" $1 % 10, "w" $1 * 7 % 13 }' > "$1.src"
  awk '{ print $2, $1 }' "$1.src" > "$1.tgt"
}

# train_small RUN [OPTION]...: 4 steps on train.src and train.tgt, a checkpoint after each. They
# are the first steps of a warm-up, so that the models differ.
train_small() {
  run=$1
  shift
  tx-train --quiet --preset toy --layers 1 --d-model 16 --d-ff 16 --heads 2 --vocab words \
    --src train.src --tgt train.tgt --steps 4 --warmup 100 --save-every 1 --threads 1 -o "$run" "$@"
}
