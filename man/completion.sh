#!/bin/sh
# completion.sh TOOL SCRIPT: writes the bash completion SCRIPT of TOOL from what TOOL --completion
# prints: for each option a line "NAME[,NAME] KIND [WORD...]", a tab and its help. A tool with
# commands prints their names instead, and TOOL COMMAND --completion prints the options.
# completion_zsh.sh and completion_fish.sh are the same for other shells.
set -eu
tool=$1 script=$2
name=$(basename "$tool")
function=_$(printf '%s' "$name" | tr -c 'A-Za-z0-9' '_')
trap 'rm -f "$script.tmp"' EXIT

# The arms of `case $command:$option`, and the option names, of one command ("" for the tool).
arms() {
  awk -v command="$1" '
    {
      sub(/\t.*/, "")
      n = split($1, names, ",")
      label = ""
      for (i = 1; i <= n; ++i) {
        all = all (all == "" ? "" : " ") names[i]
        label = label (i > 1 ? "|" : "") "\"" command ":" names[i] "\""
      }
      if ($2 == "flag") next
      words = ""
      for (i = 3; i <= NF; ++i) words = words (i > 3 ? " " : "") $i
      answer["words"] = "COMPREPLY=($(compgen -W \"" words "\" -- \"$word\"))"
      answer["list"] = "[[ $word != *,* ]] || before=${word%,*},; compopt -o nospace; " \
        "COMPREPLY=($(compgen -P \"$before\" -W \"" words "\" -- \"${word##*,}\"))"
      answer["file"] = "compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\"))"
      answer["output"] = answer["file"]
      answer["directory"] = "compopt -o filenames; COMPREPLY=($(compgen -d -- \"$word\"))"
      answer["value"] = "COMPREPLY=()"
      print "    " label ") " answer[$2] "; return ;;"
    }
    END { print "    \"" command ":\"*) options=\"" all "\" ;;" }'
}

words=$(${TX_EMULATOR:-} "$tool" --completion)
{
  echo "# bash completion of $name; generated from $name --completion."
  echo "$function() {"
  cat << 'EOF'
  local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} command= options= before=
  if [[ $word == = ]]; then  # bash splits --name=value at the =
    word=
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD-2]}
  fi
EOF
  case $words in
    -*)
      echo '  case "$command:$option" in'
      printf '%s\n' "$words" | arms ""
      echo '  esac'
      ;;
    *)
      list=$(echo $words)
      echo "  if [[ \$COMP_CWORD -eq 1 ]]; then"
      echo "    COMPREPLY=(\$(compgen -W \"$list --help --version\" -- \"\$word\"))"
      echo "    return"
      echo "  fi"
      echo '  command=${COMP_WORDS[1]}'
      echo '  case "$command:$option" in'
      for command in $words; do
        ${TX_EMULATOR:-} "$tool" "$command" --completion | arms "$command"
      done
      echo '  esac'
      ;;
  esac
  cat << 'EOF'
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  else
    compopt -o filenames
    COMPREPLY=($(compgen -f -- "$word"))
  fi
EOF
  echo "}"
  echo "complete -F $function $name"
} > "$script.tmp"
mv "$script.tmp" "$script"
