# Functions that the scripts share: . "$here/train.sh"

# settings NAMES ARGUMENT...: each argument, NAME=VALUE, sets a variable; NAMES are those allowed.
settings() {
  names=$1
  shift
  for setting; do
    case $setting in *=*) name=${setting%%=*} ;; *) name=' ' ;; esac
    case " $names " in
      *" $name "*) eval "$name=\${setting#*=}" ;;
      *) echo "${0##*/}: unknown setting '$setting'" >&2; exit 2 ;;
    esac
  done
}

# same_settings DIR NAMES TEXT...: the first time, records the variables NAMES and the SHA-256 of
# the texts in DIR/settings. Later, ends the script if one of them has changed, because the results
# in DIR are not those of the new settings.
same_settings() {
  record=$1/settings names=$2
  shift 2
  for text; do
    if [ -d "$text" ]; then
      echo "${0##*/}: $text is a directory, not a file" >&2
      exit 1
    elif [ ! -r "$text" ]; then
      echo "${0##*/}: $text is missing; see examples/data/README.md" >&2
      exit 1
    fi
  done
  mkdir -p "${record%/*}"
  {
    for name in $names; do eval "printf '%s=%s\n' \"\$name\" \"\$$name\""; done
    for text; do echo "${text##*/}: sha256 $(sha256sum < "$text" | cut -c 1-64)"; done
  } > "$record.new"
  if [ ! -e "$record" ]; then
    runs=$(find "${record%/*}" -name log.jsonl)
    if [ -n "$runs" ]; then
      echo "${0##*/}: ${record%/*} contains runs, but no record of their settings; use another" \
        "directory" >&2
      exit 1
    fi
    mv "$record.new" "$record"
  elif ! cmp -s "$record" "$record.new"; then
    echo "${0##*/}: ${record%/*} contains results of other settings:" >&2
    awk 'NR == FNR { old[$0]; next } !($0 in old) { print "  now  " $0 }' \
      "$record" "$record.new" >&2
    awk 'NR == FNR { new[$0]; next } !($0 in new) { print "  then " $0 }' \
      "$record.new" "$record" >&2
    rm "$record.new"
    echo "use another directory, or remove it: rm -r '${record%/*}'" >&2
    exit 2
  fi
  rm -f "$record.new"
}

# hash_of_settings DIR SETTING...: a line that identifies the settings of results: those of
# DIR/settings, and others, as NAME=VALUE.
hash_of_settings() {
  from=$1/settings
  shift
  hash=$({ cat "$from" && for setting; do echo "$setting"; done; } | sha256sum | cut -c 1-12)
  for setting; do from="$from, $setting"; done
  echo "settings: $hash ($from)"
}

# train RUN STEPS OPTION...: trains RUN to STEPS, or resumes it if it exists. LAUNCH is a command
# that starts several ranks, such as "mpirun -n 8".
train() {
  run=$1 steps=$2 status=0
  shift 2
  # shellcheck disable=SC2086  # LAUNCH is split into words
  if ls "$run"/state-*.safetensors > /dev/null 2>&1; then
    trained=$(readlink "$run/last.safetensors" | tr -dc 0-9)
    if [ "${trained:-0}" -gt "$steps" ]; then
      echo "${0##*/}: $run already has $trained steps, more than $steps; remove it to start over:" \
        "rm -r '$run'" >&2
      exit 2
    fi
    echo "resuming $run; to start over, remove it: rm -r '$run'" >&2
    ${LAUNCH-} tx-train --resume "$run" --steps "$steps" || status=$?
  else
    ${LAUNCH-} tx-train "$@" --steps "$steps" -o "$run" || status=$?
  fi
  [ $status -eq 0 ] || exit $status
}

# checkpoints RUN MAX: the number of checkpoints to average, at most MAX.
checkpoints() {
  set -- "$2" "$1"/model-[1-9]*.safetensors
  echo $(($# - 1 < $1 ? $# - 1 : $1))
}

# flops_per_token FILE: product FLOPs per token of both sides, in the output of tx-train --describe.
flops_per_token() {
  awk '/ product FLOPs/ { gsub(",", ""); print $9 / $1 / (substr($3, 2) + $6) }' "$1"
}

# quiet NAME COMMAND...: its messages go to DIR/NAME.log; the last two are shown if it fails.
# shellcheck disable=SC2154  # data and dir, here and below, are the script's
quiet() {
  log=$dir/$1.log
  shift
  ("$@") 2>> "$log" || { tail -n 2 "$log" >&2; exit 1; }
}

# For scripts that compare models on texts in DATA: their own settings are variables, and
# compare NAMES ARGUMENT... adds those below and calls settings() and same_settings().
# STEPS and BASE are those of every model.
# VOCAB=8000  TRAIN=train VALID=val TEST=test_2016_flickr FROM=en TO=de FORM=.lc.norm.tok
# SCORE="--tokenize none --lowercase"  as for paper/runs.sh; the vocabulary is DIR/bpe.model
# Their tables give scores of TEST, and after ± half of the 95 % bootstrap interval.
compare() {
  recorded="$1 STEPS BASE VOCAB TRAIN VALID TEST FROM TO FORM SCORE"
  shift
  VOCAB=8000 TRAIN=train VALID=val TEST=test_2016_flickr FROM=en TO=de
  FORM=.lc.norm.tok SCORE='--tokenize none --lowercase'
  settings "$recorded" "$@"
  src=$(text "$TRAIN" "$FROM") tgt=$(text "$TRAIN" "$TO")
  # shellcheck disable=SC2086  # models besides the texts, a list of words
  same_settings "$dir" "$recorded" "$src" "$tgt" "$(text "$VALID" "$FROM")" \
    "$(text "$VALID" "$TO")" "$(text "$TEST" "$FROM")" "$(text "$TEST" "$TO")" ${teachers-}
}

# text NAME LANGUAGE: a file of DATA.
text() { echo "$data/$1$FORM.$2"; }

# learn NAME TEXT FROM TO [OPTION...]: trains DIR/NAME on DIR/TEXT.FROM and DIR/TEXT.TO. With --init
# the vocabulary is that of the model.
learn() {
  name=$1 of=$2 source=$3 target=$4
  shift 4
  case " $* " in *' --init '*) ;; *) set -- --vocab "$dir/bpe.model" "$@" ;; esac
  # shellcheck disable=SC2086  # BASE is split into words
  quiet "$name" train "$dir/$name" "$STEPS" $BASE --src "$dir/$of.$source" \
    --tgt "$dir/$of.$target" --valid-src "$(text "$VALID" "$source")" \
    --valid-tgt "$(text "$VALID" "$target")" --keep 1 "$@"
}

# bleu REFERENCE < TRANSLATIONS: the score, and half of its 95 % bootstrap interval.
bleu() {
  # shellcheck disable=SC2086  # SCORE is split into words
  result=$(tx-bleu $SCORE --confidence --score-only "$1") || exit
  echo "$result" | sed 's/ (.* ± / ± /; s/)$//'
}

# score MODEL [OPTION...]: the score of DIR/MODEL on TEST; options of tx-decode.
score() {
  name=$1
  shift
  tx-decode -q -m "$dir/$name" "$@" < "$(text "$TEST" "$FROM")" > "$dir/$name.out"
  bleu "$(text "$TEST" "$TO")" < "$dir/$name.out"
}
