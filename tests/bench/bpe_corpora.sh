#!/bin/sh
# Checks that tx-bpe is lossless on every line of every text under a directory, by tokens and by
# ids, also with BPE-dropout, and that its segmentation is that of spm_encode, if that is
# installed.
#
#   sh tests/bench/bpe_corpora.sh DIR [SETTING=VALUE]...
# BIN=build/bin  directory of tx-bpe       SIZE=8000  vocabulary of the model of each directory
set -eu
dir=${1:?"usage: bpe_corpora.sh DIR [SETTING=VALUE]..."}
shift
BIN=build/bin SIZE=8000
for setting; do
  case $setting in
    BIN=* | SIZE=*) eval "${setting%%=*}=\${setting#*=}" ;;
    *) echo "bpe_corpora.sh: unknown setting '$setting'" >&2; exit 2 ;;
  esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() { # TEXT
  for way in "" --ids "--bpe-dropout 0.1"; do
    ids=
    [ "$way" != --ids ] || ids=--ids
    # shellcheck disable=SC2086  # a list of words
    "$BIN/tx-bpe" encode $way -m "$work/model" "$1" |
      "$BIN/tx-bpe" decode $ids -m "$work/model" | cmp - "$1"
  done
  command -v spm_encode > /dev/null || return 0
  "$BIN/tx-bpe" encode -m "$work/model" "$1" > "$work/ours"
  spm_encode --model "$work/model" "$1" | cmp - "$work/ours"
}

total=0
for set in "$dir"/*/; do
  find "$set" -type f ! -name '*.md' ! -name '*.txt' | LC_ALL=C sort > "$work/files"
  # shellcheck disable=SC2046
  "$BIN/tx-bpe" train --vocab-size "$SIZE" --sample 100000 -o "$work/model" $(cat "$work/files")
  lines=0
  while read -r file; do
    check "$file"
    lines=$((lines + $(wc -l < "$file")))
  done < "$work/files"
  echo "$(basename "$set"): $(wc -l < "$work/files") texts, $lines lines equal"
  total=$((total + lines))
done
echo "$total lines"
