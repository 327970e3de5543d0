#!/bin/sh
# completion_zsh.sh TOOL SCRIPT: writes the zsh completion SCRIPT of TOOL; see completion.sh.
set -eu
tool=$1 script=$2
name=$(basename "$tool")
trap 'rm -f "$script.tmp"' EXIT

# The arguments of _arguments for the options on standard input; files may be anywhere.
arguments() {
  printf '_arguments -s -S'
  awk -F '\t' '
    {
      n = split($1, field, " ")
      words = ""
      for (i = 3; i <= n; ++i) words = words (i > 3 ? " " : "") field[i]
      help = $2
      gsub(/[\[\]:\\]/, "\\\\&", help)
      gsub(/\047/, "\047\\\047\047", help)
      action["flag"] = ""
      action["value"] = ":value: "
      action["words"] = ":word:(" words ")"
      action["list"] = ":list:_sequence compadd - " words
      action["file"] = ":file:_files"
      action["output"] = action["file"]
      action["directory"] = ":directory:_files -/"
      count = split(field[1], names, ",")
      for (i = 1; i <= count; ++i) {
        last = field[2] == "flag" ? "" : names[i] ~ /^--/ ? "=" : "+"
        printf " \\\n    \047*%s%s[%s]%s\047", names[i], last, help, action[field[2]]
      }
    }
    END { print " \\\n    \047*:file:_files\047" }'
}

words=$(${TX_EMULATOR:-} "$tool" --completion)
{
  echo "#compdef $name"
  echo "# zsh completion of $name; generated from $name --completion."
  case $words in
    -*) printf '%s\n' "$words" | arguments ;;
    *)
      echo 'if (( CURRENT == 2 )); then'
      echo "  compadd -- $(echo $words) --help --version"
      echo '  return'
      echo 'fi'
      echo 'case $words[2] in'
      for command in $words; do
        echo "  $command)"
        echo '    shift words'
        echo '    (( CURRENT-- ))'
        printf '    '
        ${TX_EMULATOR:-} "$tool" "$command" --completion | arguments
        echo '    ;;'
      done
      echo 'esac'
      ;;
  esac
} > "$script.tmp"
mv "$script.tmp" "$script"
