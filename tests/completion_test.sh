# The completions made from a tool's --completion, tested on two made-up tools in bash, and in zsh
# and fish if installed.
command -v bash > /dev/null || fail "bash is not installed"
cat > tx-one <<'EOF'
#!/bin/sh
printf '%s\t%s\n' '-h,--help flag' 'print this' '-m,--model file' "the model's file" \
  '--norm words post pre' 'where: [post] or pre' '-o,--out directory' 'a \ folder' \
  '--beam value' 'beam width' '--tie,--no-tie flag' 'tie them' '--kinds list cross self' kinds
EOF
cat > tx-two <<'EOF'
#!/bin/sh
case $1 in
  --completion) printf 'encode\ndecode\n' ;;
  encode) printf '%s\thelp\n' '-h,--help flag' '--form words ids pieces' ;;
  decode) printf '%s\thelp\n' '-h,--help flag' '--strict flag' ;;
esac
EOF
chmod +x tx-one tx-two
for tool in tx-one tx-two; do
  sh "$TX_SOURCE/man/completion.sh" "./$tool" "$tool.bash"
  sh "$TX_SOURCE/man/completion_zsh.sh" "./$tool" "_$tool"
  sh "$TX_SOURCE/man/completion_fish.sh" "./$tool" "$tool.fish"
done
mkdir folder
: > file

# completes WANTED WORD...: expects the sorted completions of the last word in bash.
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
completes "--beam --help --kinds --model --no-tie --norm --out --tie -h -m -o" tx-one -
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
completes "cross self" tx-one --kinds ""
completes "self,cross" tx-one --kinds self,c

# fish prints its completions, each with a tab and its help.
fish_completes() { # WANTED LINE
  given=$(HOME=$PWD fish -c "source $(echo "$2" | cut -d ' ' -f 1).fish; complete -C '$2'" |
    cut -f 1 | sort | tr '\n' ' ')
  [ "$given" = "$1 " ] || fail "in fish '$2' gives '$given' instead of '$1'"
}
if command -v fish > /dev/null; then
  fish_completes "--model" "tx-one --m"
  fish_completes "--no-tie --norm" "tx-one --no"
  fish_completes "post pre" "tx-one --norm "
  fish_completes "--norm=pre" "tx-one --norm=pr"
  fish_completes "folder/" "tx-one --out f"
  fish_completes "file folder/" "tx-one -m f"
  fish_completes "self,cross" "tx-one --kinds self,c"
  fish_completes "decode encode" "tx-two "
  fish_completes "--form --help" "tx-two encode --"
  fish_completes "--strict" "tx-two decode --s"
  fish_completes "ids pieces" "tx-two encode --form "
  given=$(HOME=$PWD fish -c 'source tx-one.fish; complete -C "tx-one --mod"' | cut -f 2)
  [ "$given" = "the model's file" ] || fail "fish shows '$given'"
fi

# zsh in a pseudo-terminal: a key completes the line and writes it to a file.
if command -v zsh > /dev/null; then
  cat > try.zsh <<'EOF'
zmodload zsh/zpty
zpty terminal "TERM=dumb HOME=$PWD zsh -f -i"
zpty -w terminal "fpath=($PWD \$fpath); autoload -Uz compinit; compinit -D -u"
zpty -w terminal 'show() { zle complete-word; print -r -- "$BUFFER" > done.tmp; mv done.tmp done }'
zpty -w terminal 'zle -N show; bindkey "^X" show; print > ready'
for i in {1..600}; do [[ -e ready ]] && break; sleep 0.1; done
zpty -n -w terminal "$1"$'\x18'
for i in {1..600}; do [[ -e done ]] && break; sleep 0.1; done
cat done
EOF
  zsh_completes() { # WANTED LINE
    rm -f ready "done"
    given=$(zsh -f try.zsh "$2")
    [ "$given" = "$1" ] || fail "in zsh '$2' becomes '$given' instead of '$1'"
  }
  zsh_completes "tx-one --model=" "tx-one --m"
  zsh_completes "tx-one --norm pre " "tx-one --norm pr"
  zsh_completes "tx-one --out folder/" "tx-one --out f"
  zsh_completes "tx-one --kinds self,cross," "tx-one --kinds self,c"
  zsh_completes "tx-one --no-tie " "tx-one --no-"
  zsh_completes "tx-two encode " "tx-two en"
  zsh_completes "tx-two decode --strict " "tx-two decode --s"
  zsh_completes "tx-two encode --form pieces " "tx-two encode --form p"
fi

# The completions of every tool are valid scripts.
for tool in $(tools); do
  bash -n "$TX_BUILD/completions/$tool"
  head -n 1 "$TX_BUILD/completions/zsh/_$tool" | grep -qx "#compdef $tool" || fail "zsh, $tool"
  ! command -v zsh > /dev/null || zsh -n "$TX_BUILD/completions/zsh/_$tool"
  ! command -v fish > /dev/null || fish -n "$TX_BUILD/completions/fish/$tool.fish"
done
