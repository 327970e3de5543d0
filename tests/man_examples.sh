# Runs the examples of a manual page: sh cli/run.sh man_examples.sh man/PAGE. Their format, in any
# section:
#
#   .Bd -literal -offset indent        (or .nf)
#   $ tx-bpe encode -m bpe.model < a.txt > a.pieces
#   $ tx-bpe decode -m bpe.model \e
#   > < a.pieces
#   the output of the command
#   ...
#   .Ed                                (or .fi)
#
# A line "$ COMMAND" is run; it is continued by "\e" at its end and a line that begins with "> ". The
# lines after a command are its whole standard output, in which "..." matches any lines; without
# such lines the output is ignored. Every command must end with status 0, or with status N if the
# last line is "[status N]". All commands of a page run in one shell and a new directory, which
# tests/man/NAME.setup.sh (such as tx-bpe.1.setup.sh; optional) fills first. A page of section 1
# must have an example.
page=$1
name=$(basename "$page" .in)
setup=$TX_SOURCE/tests/man/$name.setup.sh

# Converts the page to lines "C command", "+ continuation" and "O expected output".
awk '
  /^\.(Bd -literal|nf)/ { literal = 1; command = 0; next }
  /^\.(Ed|fi)/ { literal = 0; next }
  !literal { next }
  {
    gsub(/\\-/, "-"); gsub(/\\\(aq/, "\047"); gsub(/\\\(ti/, "~"); gsub(/\\\(ha/, "^")
    gsub(/\\\(ga/, "`"); gsub(/\\&/, ""); gsub(/\\e/, "\\")
  }
  /^\$ / { print "C " substr($0, 3); command = 1; next }
  /^> / && command { print "+ " substr($0, 3); next }
  command { print "O " $0 }
' "$page" > "$TX_LAST/examples"

case $page in
  *.1.in) grep -q '^C ' "$TX_LAST/examples" || fail "$name has no example" ;;
esac

# matches WANTED GIVEN: compares the files; "..." in WANTED matches any lines.
matches() {
  awk '
    NR == FNR { given[++n] = $0; next }
    { wanted[++m] = $0 }
    function match_from(i, j) {  # wanted[i..m] against given[j..n]
      for (; i <= m; ++i) {
        if (wanted[i] == "...") {
          for (; j <= n + 1; ++j) if (match_from(i + 1, j)) return 1
          return 0
        }
        if (j > n || wanted[i] != given[j++]) return 0
      }
      return j == n + 1
    }
    END { exit !match_from(1, 1) }' "$2" "$1"
}

# run_pending: runs the last command and compares its output.
run_pending() {
  [ -n "$command" ] || return 0
  wanted_status=$(sed -n 's/^\[status \([0-9]*\)\]$/\1/p' "$TX_LAST/wanted")
  sed '/^\[status [0-9]*\]$/d' "$TX_LAST/wanted" > "$TX_LAST/lines"
  printf '$ %s\n' "$command" >&2
  status=0
  eval "$command" > "$TX_LAST/stdout" 2> "$TX_LAST/stderr" < /dev/null || status=$?
  [ "$status" -eq "${wanted_status:-0}" ] || fail "$name: status $status of: $command"
  [ -s "$TX_LAST/lines" ] || return 0
  matches "$TX_LAST/lines" "$TX_LAST/stdout" || {
    diff "$TX_LAST/lines" "$TX_LAST/stdout" | head -20 >&2
    fail "$name: the output differs from the page: $command"
  }
}

# An example that exits the shell is a failure.
finished=no
trap '[ "$finished" = yes ] || exit 1' EXIT
if [ -e "$setup" ]; then . "$setup"; fi
newline='
'
command=
: > "$TX_LAST/wanted"
while IFS= read -r example <&3; do
  text=${example#??}
  case $example in
    C*)
      run_pending
      command=$text
      : > "$TX_LAST/wanted"
      ;;
    +*) command=$command$newline$text ;;
    O*) printf '%s\n' "$text" >> "$TX_LAST/wanted" ;;
  esac
done 3< "$TX_LAST/examples"
run_pending
finished=yes
