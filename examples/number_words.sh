#!/bin/sh
# Writes a small parallel corpus: numbers from 0 to 999,999 in English and German words. German
# puts units before tens ("einundzwanzig"), so a model has to learn reordering.
#
#   sh number_words.sh TRAIN VALID TEST DIR      TRAIN pairs as DIR/train.en and train.de, etc.
#   sh number_words.sh --words < numbers         each number as "english <tab> german"
#
# No number is in two of the parts. The training text begins with all numbers below 1,000 that are
# not in the other parts. The same arguments give the same files.
set -eu
words=$(cd "$(dirname "$0")" && pwd)/number_words.awk

if [ "${1-}" = --words ]; then
  exec awk -f "$words"
fi
if [ $# -ne 4 ]; then
  echo "usage: number_words.sh TRAIN VALID TEST DIR" >&2
  exit 2
fi
for count in "$1" "$2" "$3"; do
  case $count in
    "" | 0?* | *[!0-9]* | ???????*)
      echo "number_words.sh: \"$count\" is not a number of pairs" >&2
      exit 2
      ;;
  esac
done
if [ $(($1 + $2 + $3)) -gt 900000 ]; then
  echo "number_words.sh: at most 900,000 pairs in total" >&2
  exit 2
fi
mkdir -p "$4"
cd "$4"
for part in train valid test; do
  : > $part.en
  : > $part.de
done
awk -v corpus=1 -v train="$1" -v valid="$2" -v test="$3" -f "$words" < /dev/null
