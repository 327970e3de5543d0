#!/bin/sh
# page.sh TOOL SOURCE PAGE: writes the manual page PAGE from SOURCE. Replaces a line "@OPTIONS@" by
# the options of TOOL, and "@OPTIONS COMMAND@" by those of one of its commands.
set -eu
tool=$1 source=$2 page=$3
trap 'rm -f "$page.tmp"' EXIT
while IFS= read -r line; do
  case $line in
    @OPTIONS@) ${TX_EMULATOR:-} "$tool" --man-options ;;
    "@OPTIONS "*@)
      command=${line#@OPTIONS }
      ${TX_EMULATOR:-} "$tool" "${command%@}" --man-options
      ;;
    *) printf '%s\n' "$line" ;;
  esac
done < "$source" > "$page.tmp"
mv "$page.tmp" "$page"
