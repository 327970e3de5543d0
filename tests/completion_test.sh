# The bash completion made from a tool's --completion, tried in bash on two made-up tools.
command -v bash > /dev/null || fail "no bash here"
cat > tx-one <<'EOF'
#!/bin/sh
printf '%s\n' '-h,--help flag' '-m,--model file' '--norm words post pre' '-o,--out folder' \
  '--beam value' '--tie,--no-tie flag'
EOF
cat > tx-two <<'EOF'
#!/bin/sh
case $1 in
  --completion) printf 'encode\ndecode\n' ;;
  encode) printf '%s\n' '-h,--help flag' '--form words ids pieces' ;;
  decode) printf '%s\n' '-h,--help flag' '--strict flag' ;;
esac
EOF
chmod +x tx-one tx-two
for tool in tx-one tx-two; do
  sh "$TX_SOURCE/man/completion.sh" "./$tool" "$tool.bash"
done
mkdir folder
: > file

# completes WANTED WORD...: what bash offers for the last word, sorted and on one line.
completes() {
  wanted=$1
  shift
  given=$(bash -c '
    . "./$1.bash"
    compopt() { :; }  # works only inside a real completion
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    "_${1//-/_}"
    printf "%s\n" "${COMPREPLY[@]}" | sort | tr "\n" " "' bash "$@")
  [ "$given" = "$wanted " ] || fail "completion of '$*' gives '$given' instead of '$wanted'"
}
completes "--model" tx-one --m
completes "--beam --help --model --no-tie --norm --out --tie -h -m -o" tx-one -
completes "--no-tie --norm" tx-one --tie --no
completes "post pre" tx-one --norm ""
completes "pre" tx-one --norm pr
completes "pre" tx-one --norm = pr
completes "post pre" tx-one --norm =
completes "file folder" tx-one -m f
completes "folder" tx-one --out f
completes "" tx-one --beam ""
completes "file" tx-one fi
completes "--help --version decode encode" tx-two ""
completes "encode" tx-two en
completes "--form --help" tx-two encode --
completes "--strict" tx-two decode --s
completes "ids pieces" tx-two encode --form ""

# And what every tool of this build has is at least a script that bash accepts.
for tool in $(tools); do
  bash -n "$TX_BUILD/completions/$tool"
done
