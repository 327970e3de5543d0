# label: peer
# examples/documents: filters translate the text of documents and keep everything else byte for byte. In
# documents.txt and below, COMMAND has written « before each line; without « they are what it translates.
python3 -c 'import sys; assert sys.version_info >= (3, 8)' 2> /dev/null || skip 'no Python 3.8'
export PYTHONDONTWRITEBYTECODE=1
awk '/^== / { name = $2; next } { print > name }' "$TX_SOURCE/tests/cli/examples/documents.txt"
while IFS='#' read -r name text; do printf '%b' "$text" > "$name"; done << 'END'
lines.txt#«First sentence.\n\t«Indented, <tag> & more  \n\n***\n«Second paragraph. 
blank.txt#\n \n
empty.txt#
empty.po#
empty.html#
empty.tmx#<tmx><header srclang="en"/><body/></tmx>
header.po#msgid ""\nmsgstr ""\n"Project-Id-Version: x\\n"\n
last.po#msgid   "No spaces" \nmsgstr   "«No spaces"
times.srt#00:00:01,000 --> 00:00:02,500\n\n\n00:00:03,000 --> 00:00:04,000\n
notes.vtt#WEBVTT\n\nNOTE kept\n\nREGION\nid:kept\n
broken.html#«<p class="open>no <b>end
svg.html#<svg><text>kept</text></svg><textarea>kept</textarea>«a
open.md#«Text\n```\nkept to the end\n
item.md#1. ```\n   kept\n   ```\n2. «text\n-\n  - «deep\n\n    «more\n<!-- kept\ntext -->\n
code.md#\tkept\n\n<pre>\nkept\n\n# kept</pre>\n\n«Text <kbd>Ctrl</kbd> &amp;\n
END

# filter DOCUMENT COMMAND...
filter() {
  case $1 in
    *.po) program=po ;;
    *.srt | *.vtt) program=srt ;;
    *.html) program=html_page ;;
    *.md) program=markdown ;;
    *.tmx) program=tmx input=$1; shift; set -- "$input" de "$@" ;;
    *) program=text ;;
  esac
  python3 "$TX_SOURCE/examples/documents/$program.py" "$@"
}

# windows FILE: with a byte order mark and CRLF, without the last line break.
windows() { printf '\357\273\277'; awk 'NR > 1 { printf "\r\n" } { printf "%s", $0 }' "$1"; }

mkdir in crlf
for document in *.*; do
  case $document in # messages and segments that are filled have no «
    *.po) set -- -e 's/"«.*"/""/' -e '/^#: of/,/^$/{/^msgstr/,/^$/{/^"/d' -e '}' -e '}' ;;
    *.tmx) set -- -e '/<tuv xml:lang="de"><seg>«/d' -e 's|<seg>«.*|<seg></seg></tuv></tu>|' ;;
    *) set -- -e 's/«//g' -e 's/é/\&eacute;/' -e 's/\[ref\]\[ref\]/[ref]/' ;;
  esac
  sed "$@" "$document" > "in/$document"
  expect_status 0 filter "in/$document" sed 's/^/«/'
  expect_stdout_file "$document"
  windows "in/$document" > "crlf/$document"
  windows "$document" > wanted
  expect_status 0 filter "crlf/$document" sed 's/^/«/'
  expect_stdout_file wanted
  case $document in *.po | *.tmx) continue ;; esac
  expect_status 0 filter "in/$document" cat
  expect_stdout_file "in/$document"
done

# A COMMAND that loses lines, fails or does not exist; one that loses tags or placeholders.
expect_status 1 filter in/film.srt sed 1d
expect_empty_stdout
expect_stderr_contains 'in/film.srt: sed: status 0, 4 lines for 5'
expect_status 1 filter in/film.srt sh -c 'cat; exit 3'
expect_status 1 filter in/film.srt no_such_command
expect_status 2 filter in/film.srt
expect_status 0 filter in/film.vtt sed 's/<[^>]*>//g; s/^/«/'
expect_stdout_file in/film.vtt
expect_stderr_contains 'in/film.vtt: 2 of 2 units are not translated'
expect_status 0 filter in/plain.po tr -d %
expect_stdout_contains 'msgstr[1] ""'
expect_stdout_contains '"Usage: s'
expect_status 0 filter in/plain.po sed 's/%s of %d/%d of %s/; s/%1$s of %2$s/%2$s of %1$s/'
expect_stdout_lacks '%d of %s'
expect_stdout_contains 'msgstr "%2$s of %1$s"'

# Two lines of similar lengths, not broken in a tag; UTF-16; another charset.
printf '1\n00:00:01,000 --> 00:00:02,500\na <c d="x y">b</c>\nc\n' > two.srt
expect_status 0 filter two.srt sed 's/a \(.*\)b\(.*\)/one \1two\2 or three/'
last_stdout | tail -n 2 > wanted
printf 'one <c d="x y">two</c>\nc or three\n' | cmp - wanted || fail "$(cat wanted)"
iconv -f UTF-8 -t UTF-16 two.srt > wide.srt
expect_status 0 filter wide.srt cat
expect_stdout_file wide.srt
sed 's/UTF-8/ASCII/' in/plain.po > ascii.po
expect_status 1 filter ascii.po cat

# placeholders.awk: words that are aligned to one word each become the same placeholder on both sides.
printf '%s\n' 'a red house	ein rotes haus	0-0 1-1 2-2' 'a b	c d e	0-0 0-1 1-2' 'x .	y .	0-0 0-1 1-1' > aligned
for seed in 1 2 3 4 5; do
  awk -F '\t' -v seed=$seed -f "$TX_SOURCE/examples/documents/placeholders.awk" aligned > pairs
  awk -F '\t' '
    { split($1, source, " "); split($2, target, " ") }
    NR == 1 {
      split("a red house", a, " "); split("ein rotes haus", b, " ")
      for (i = 1; i <= 3; ++i)
        if (source[i] ~ /^[{][0-2][}]$/ && source[i] == target[i]) ++held
        else if (source[i] != a[i] || target[i] != b[i]) exit 1
      if (!held) exit 1
    }
    NR == 2 && $0 != "a {0}\tc d {0}" { exit 1 }' pairs || fail "$(cat pairs)"
  [ "$(wc -l < pairs)" -eq 2 ] || fail "$(cat pairs)"
done
