#!/bin/sh
# A model translates between English and French; then it learns German as well. What the first rows
# of the new tag, new words, frozen rows and old text among the new do to both.
#
#   sh tests/bench/new_language.sh DATA DIR [STEPS [MINUTES]]
#
# DATA has train, val and test_2016_flickr of Multi30k as .lc.norm.tok.en, .de and .fr. The first
# model trains for MINUTES (7), the others for STEPS (600). Prints BLEU and chrF of English to German,
# English to French and French to English; runs that exist in DIR are not repeated.
set -eu
data=${1:?"usage: new_language.sh DATA DIR [STEPS [MINUTES]]"} dir=${2:?"DIR is missing"}
steps=${3-600} minutes=${4-7}
mkdir -p "$dir"
text() { echo "$data/$1.lc.norm.tok.$2"; } # PART LANGUAGE
pairs() { # NAME PART FROM-TO...: writes DIR/NAME.src, with tags, and DIR/NAME.tgt
  name=$1 part=$2
  shift 2
  for pair; do sed "s/^/<2${pair#*-}> /" "$(text "$part" "${pair%-*}")"; done > "$dir/$name.src"
  for pair; do cat "$(text "$part" "${pair#*-}")"; done > "$dir/$name.tgt"
}
pairs old train en-fr fr-en
pairs old-valid val en-fr fr-en
pairs new train en-de
pairs new-valid val en-de
pairs all train en-de en-fr fr-en
cd "$dir"
printf '<2en>\n<2fr>\n' > tags
printf '<2de>\n' > german
[ -e bpe.model ] || tx-bpe train --vocab-size 6000 --user-symbols tags -o bpe.model old.tgt
# The 300 most frequent German words of which the vocabulary makes three tokens or more.
tr ' ' '\n' < new.tgt | grep -E '^[[:alpha:]]{4,}$' | LC_ALL=C sort | uniq -c | sort -k1,1nr -k2 | head -n 3000 |
  awk '{ print $2 }' > frequent
tx-bpe encode -m bpe.model < frequent | awk '{ print NF }' > tokens
paste tokens frequent | awk '$1 >= 3 && n++ < 300 { print $2 }' > words

row() { # NAME OPTION...: trains and scores a model
  name=$1
  shift
  [ -e "$name/last.safetensors" ] || tx-train -q --keep 1 --save-every 200 -o "$name" "$@" 2> "$name.log" ||
    { tail -n 3 "$name.log" >&2; exit 1; }
  printf '%-20s' "$name"
  for to in de fr en; do
    from=en
    [ $to != en ] || from=fr
    [ "$name $to" != "old de" ] || { printf '      -      -'; continue; }
    sed "s/^/<2$to> /" "$(text test_2016_flickr $from)" | tx-decode -q -m "$name" > "$name.$to"
    for metric in "bleu --tokenize none" chrf; do
      # shellcheck disable=SC2086  # a metric and its option
      printf ' %6s' "$(tx-bleu --metric $metric --score-only "$(text test_2016_flickr $to)" < "$name.$to" 2> /dev/null)"
    done
  done
  echo
}
row old --preset tiny --minutes "$minutes" --vocab bpe.model --src old.src --tgt old.tgt \
  --valid-src old-valid.src --valid-tgt old-valid.tgt
grown() { # NAME TEXT OPTION...
  name=$1 of=$2
  shift 2
  row "$name" --init old --preset fine-tune --steps "$steps" --src "$of.src" --tgt "$of.tgt" \
    --valid-src new-valid.src --valid-tgt new-valid.tgt "$@"
}
from_en='--add-language <2de>=<2en>'
# shellcheck disable=SC2086  # lists of words
{
  grown tag new $from_en
  grown mean new --add-tokens german
  row scratch --preset tiny --steps "$steps" --vocab tag/last.safetensors --src new.src --tgt new.tgt
  grown mixed-tag all $from_en
  grown mixed-mean all --add-tokens german
  grown mixed-frozen all $from_en --freeze-old-tokens
  grown mixed-words all $from_en --add-tokens words
  grown frozen new $from_en --freeze-old-tokens
  grown words new $from_en --add-tokens words
}
