#!/bin/sh
# completion_fish.sh TOOL SCRIPT: writes the fish completion SCRIPT of TOOL; see completion.sh.
set -eu
tool=$1 script=$2
name=$(basename "$tool")
trap 'rm -f "$script.tmp"' EXIT

# The lines for the options on standard input, of one command ("" for the tool).
options() {
  awk -F '\t' -v tool="$name" -v command="$1" '
    {
      n = split($1, field, " ")
      line = "complete -c " tool
      if (command != "") line = line " -n \047__fish_seen_subcommand_from " command "\047"
      count = split(field[1], names, ",")
      for (i = 1; i <= count; ++i)
        line = line (names[i] ~ /^--/ ? " -l " substr(names[i], 3) : " -s " substr(names[i], 2))
      spaced = commas = ""
      for (i = 3; i <= n; ++i) {
        spaced = spaced (i > 3 ? " " : "") field[i]
        commas = commas (i > 3 ? "," : "") field[i]
      }
      value["flag"] = ""
      value["value"] = " -x"
      value["words"] = " -x -a \047" spaced "\047"
      value["list"] = " -x -a \"(__fish_complete_list , \047string split , " commas "\047)\""
      value["file"] = " -r -F"
      value["output"] = value["file"]
      value["directory"] = " -x -a \"(__fish_complete_directories)\""
      help = $2
      gsub(/[\\\047]/, "\\\\&", help)
      print line value[field[2]] " -d \047" help "\047"
    }'
}

words=$(${TX_EMULATOR:-} "$tool" --completion)
{
  echo "# fish completion of $name; generated from $name --completion."
  case $words in
    -*) printf '%s\n' "$words" | options "" ;;
    *)
      echo "complete -c $name -f -n __fish_use_subcommand -a '$(echo $words)'"
      echo "complete -c $name -n __fish_use_subcommand -l help -l version"
      for command in $words; do ${TX_EMULATOR:-} "$tool" "$command" --completion | options "$command"; done
      ;;
  esac
} > "$script.tmp"
mv "$script.tmp" "$script"
