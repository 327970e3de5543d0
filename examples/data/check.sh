#!/bin/sh
# Checks the texts that README.md describes: prints what is missing or has other lines or bytes.
#   sh examples/data/check.sh [DIR [SET...]]
# DIR (data) is the directory in which the commands of README.md were run. SET is multi30k,
# wmt14-en-de, wmt14-en-fr, iwslt14, europarl, wsj or craft; the default is all that are in DIR.
# Ends with status 1 if a set is incomplete.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-data}
[ $# -eq 0 ] || shift

# Set, file, lines (trees of wsj and craft), SHA-256; "-" if we do not know it.
list() {
  cat << 'END'
multi30k multi30k/data/task1/tok/train.lc.norm.tok.en 29000 08925f8e0572bcd5a006702fc5fe20e2d77c6917d4eebd576fc20de6693c2119
multi30k multi30k/data/task1/tok/train.lc.norm.tok.de 29000 cb5a23529b65ec2061f1dc446192a9c37382b63cc75f81a0be59d34894b3a505
multi30k multi30k/data/task1/tok/train.lc.norm.tok.fr 29000 8fa41bb718412bcb7c5dfa58603842810a01543eae86a51279f9886b901266e1
multi30k multi30k/data/task1/tok/val.lc.norm.tok.en 1014 46573ce391ae227f1c72f873392436a20ef18e0a6d518098cfbd70b77c8572ec
multi30k multi30k/data/task1/tok/val.lc.norm.tok.de 1014 97232bd273eceb7207f689527386a97e4be2616b18ada47576bdaf96c8ae1f00
multi30k multi30k/data/task1/tok/val.lc.norm.tok.fr 1014 b303e301aa21fe7822a846b2b3fb2d5a1121ec807cd5b1d006fb7b2b5507168a
multi30k multi30k/data/task1/tok/test_2016_flickr.lc.norm.tok.en 1000 5b7f32627cf99eced828311b955dae9800bb52bc8b91cf8b6526829e605b29d2
multi30k multi30k/data/task1/tok/test_2016_flickr.lc.norm.tok.de 1000 c6a33d39d48f9f510de147651316cd9d918e09ad0219df734a2f16b6baccacc4
multi30k multi30k/data/task1/tok/test_2016_flickr.lc.norm.tok.fr 1000 1463bd5960f9bfe098ec3cd752d3df0c49c84dc646fb518964a29232658cd836
wmt14-en-de wmt14-en-de/train.en 4520620 -
wmt14-en-de wmt14-en-de/train.de 4520620 -
wmt14-en-de wmt14-en-de/newstest2013.en 3000 -
wmt14-en-de wmt14-en-de/newstest2013.de 3000 -
wmt14-en-de wmt14-en-de/newstest2014.en 3003 -
wmt14-en-de wmt14-en-de/newstest2014.de 3003 -
wmt14-en-fr wmt14-en-fr/train.en 40842333 -
wmt14-en-fr wmt14-en-fr/train.fr 40842333 -
wmt14-en-fr wmt14-en-fr/newstest2013.en 3000 -
wmt14-en-fr wmt14-en-fr/newstest2013.fr 3000 -
wmt14-en-fr wmt14-en-fr/newstest2014.en 3003 -
wmt14-en-fr wmt14-en-fr/newstest2014.fr 3003 -
iwslt14 iwslt14/train.de 160239 -
iwslt14 iwslt14/train.en 160239 -
iwslt14 iwslt14/valid.de 7283 -
iwslt14 iwslt14/valid.en 7283 -
iwslt14 iwslt14/test.de 6750 -
iwslt14 iwslt14/test.en 6750 -
europarl europarl/train.en 500000 -
europarl europarl/train.fr 500000 -
europarl europarl/dev.en 2000 -
europarl europarl/dev.fr 2000 -
wsj wsj/train 39832 -
wsj wsj/dev 1700 -
wsj wsj/test 2416 -
craft craft/train - -
craft craft/dev - -
craft craft/test - -
END
}

count() { # FILE
  case $1 in
    wsj/* | craft/*) awk -v what=tree -f "$here/../paper/trees.awk" "$dir/$1" 2> /dev/null || : ;;
    *) cat "$dir/$1" ;;
  esac | wc -l
}
# check FILE LINES SHA256: prints nothing if the file is as expected.
check() {
  if [ ! -e "$dir/$1" ]; then
    echo "  $1 is missing"
  elif head -n 20 "$dir/$1" | grep -q '<seg id='; then
    echo "  $1 is SGML, not text: see README.md"
  elif lines=$(count "$1") && [ "$2" != - ] && [ "$lines" -ne "$2" ]; then
    echo "  $1 has $lines lines or trees instead of $2"
  elif [ "$lines" -eq 0 ]; then
    echo "  $1 is empty"
  elif [ "$3" != - ] && [ "$(sha256sum < "$dir/$1" | cut -c 1-64)" != "$3" ]; then
    echo "  $1 has the right number of lines, but another SHA-256 than the published file"
  fi
}

if [ $# -eq 0 ]; then
  for set in $(list | cut -d ' ' -f 1 | uniq); do [ ! -e "$dir/$set" ] || set -- "$@" "$set"; done
  [ $# -gt 0 ] || { echo "check.sh: $dir contains none of the sets of README.md" >&2; exit 1; }
fi
status=0
for set; do
  list | grep -q "^$set " || { echo "check.sh: unknown set '$set'" >&2; exit 2; }
  faults=$(list | while read -r name file lines sum; do
    [ "$name" != "$set" ] || check "$file" "$lines" "$sum"
  done)
  if [ -z "$faults" ]; then
    echo "$set: complete"
  else
    printf '%s:\n%s\n' "$set" "$faults"
    status=1
  fi
done
exit $status
