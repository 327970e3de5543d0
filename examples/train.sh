# For the examples, which can be run again in their folder: . "$here/train.sh"

# settings NAMES ARGUMENT...: each argument is NAME=VALUE and sets one of the variables in NAMES.
settings() {
  names=$1
  shift
  for setting; do
    case $setting in *=*) name=${setting%%=*} ;; *) name=' ' ;; esac
    case " $names " in
      *" $name "*) eval "$name=\${setting#*=}" ;;
      *) echo "${0##*/}: no setting '$setting'" >&2; exit 2 ;;
    esac
  done
}

# train RUN STEPS OPTION...: tx-train into RUN; a run that is there already goes on to STEPS.
train() {
  run=$1 steps=$2 status=0
  shift 2
  if ls "$run"/state-*.safetensors > /dev/null 2>&1; then
    echo "going on with $run; to begin anew, remove it: rm -r '$run'" >&2
    tx-train --resume "$run" --steps "$steps" || status=$?
  else
    tx-train "$@" --steps "$steps" -o "$run" || status=$?
  fi
  [ $status -eq 0 ] || exit $status
}

# checkpoints RUN MOST: how many there are to average, at most so many.
checkpoints() {
  set -- "$2" "$1"/model-[1-9]*.safetensors
  echo $(($# - 1 < $1 ? $# - 1 : $1))
}
