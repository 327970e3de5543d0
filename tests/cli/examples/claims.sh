# examples/claims/README.md: every command prints the numbers of its row, and the numbers of a row
# with a link are in the section that it names. The numbers of a cell follow one another there; a
# semicolon begins others. The check detects a changed figure.
ln -s "$TX_SOURCE/examples" examples
page=$TX_SOURCE/examples/claims/README.md

# numbers: those of the input, in one line, without commas of thousands.
numbers() {
  sed -E -e ':again' -e 's/([0-9]),([0-9]{3})([^0-9]|$)/\1\2\3/' -e 't again' |
    grep -oE -- '-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?' | paste -s -d ' ' -
}

# section FILE ANCHOR
section() {
  awk -v anchor="$2" '/^#+ / {
      name = tolower($0)
      sub(/^#+ /, "", name); gsub(/[^a-z0-9 -]/, "", name); gsub(/ /, "-", name)
      on = name == anchor
    }
    on' "$1"
}

# rows FILE: line number, command or link, and numbers of each row, separated by tabs.
rows() {
  sed 's/\\|/\x01/g' "$1" | awk -F ' [|] ' -v OFS='\t' '
    /^[|] / && !/^[|] claim/ { gsub(/\001/, "|", $2); print NR, $2, $3 }'
}

# wrong FILE [LINE]: prints the rows, or that of LINE, whose numbers are not those found.
wrong() {
  rows "$1" | while IFS='	' read -r line command here; do
    [ $# -eq 1 ] || [ "$2" = "$line" ] || continue
    case $command in
      '`'*'`')
        command=${command#?}
        sh -c "${command%?}" < /dev/null > found 2> log || echo "$line: $command: $(cat log)"
        ;;
      '['*'](../'*'#'*'), '*' min')
        target=${command#*\(../}
        target=${target%%\)*}
        section "$TX_SOURCE/examples/${target%#*}" "${target#*#}" > found
        ;;
      *) echo "$line: neither a command nor a link with its minutes"; continue ;;
    esac
    found=$(numbers < found)
    echo "$here" | tr ';' '\n' | while read -r group; do
      group=$(echo "$group" | numbers)
      case " $found " in
        *" ${group:-none} "*) ;;
        *) echo "$line: $group is not in: $command" ;;
      esac
    done
  done
}

wrong "$page" > faults
[ ! -s faults ] || fail "$(cat faults)"
[ "$(rows "$page" | wc -l)" -ge 60 ] || fail 'rows are missing'

# A changed figure of a command, and one of a table.
for claim in 'big has 213 million' 'a beam of 4 is better'; do
  line=$(grep -n "^| $claim" "$page" | cut -d : -f 1)
  sed "$line s/214,171,648/214,171,649/; $line s/36\.4/36.5/" "$page" > changed
  wrong changed "$line" > faults
  grep -qE "^$line: .*(214171649|36\.5) is not in: " faults || fail "$claim: $(cat faults)"
done
