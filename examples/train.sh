# Functions that the examples share: . "$here/train.sh"

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

# train RUN STEPS OPTION...: trains RUN to STEPS, or resumes it if it exists.
train() {
  run=$1 steps=$2 status=0
  shift 2
  if ls "$run"/state-*.safetensors > /dev/null 2>&1; then
    echo "resuming $run; to start over, remove it: rm -r '$run'" >&2
    tx-train --resume "$run" --steps "$steps" || status=$?
  else
    tx-train "$@" --steps "$steps" -o "$run" || status=$?
  fi
  [ $status -eq 0 ] || exit $status
}

# checkpoints RUN MAX: the number of checkpoints to average, at most MAX.
checkpoints() {
  set -- "$2" "$1"/model-[1-9]*.safetensors
  echo $(($# - 1 < $1 ? $# - 1 : $1))
}
