# The paths, options and sections of tx-paper(7) that pages and documents name exist, figures are the
# same in all documents, every script of tests/bench is documented, and the checks detect errors.
: "${TX_LAST:?run it by ctest, which gives it a folder of its own}"

# names FILE: prints the paths of the source tree in a document, one per line. A word in capital
# letters, as in lib/ops/NAME.cpp, is a placeholder.
names() {
  sed -e 's/\\-/-/g' -e 's/\\&//g' -e 's|https\{0,1\}://[^ )]*||g' "$1" |
    grep -oE '(^|[^A-Za-z0-9_./-])(lib|kernels|tools|tests|examples|man)/[][A-Za-z0-9_./*{},-]+' |
    sed -e 's/^[^a-z]*//' -e 's/[.,]*$//' | grep -vE '[A-Z][A-Z]' | sort -u
}

# missing ROOT FILE...: prints the paths that do not exist below ROOT, with their documents.
missing() {
  root=$1
  shift
  for document; do
    names "$document" | while read -r path; do
      # shellcheck disable=SC2086  # may be a pattern
      (cd "$root" && ls -d $path) > /dev/null 2>&1 || echo "${document#"$TX_SOURCE"/}: $path"
    done
  done
}

# shellcheck disable=SC2016  # backticks of a document
printf 'See `lib/no_such.cpp`, lib/base/*.none and (man/no\\-page.7). Not lib/ops/NAME.cpp.\n' > page
missing "$TX_SOURCE" page > found
printf '%s\n' 'page: lib/base/*.none' 'page: lib/no_such.cpp' 'page: man/no-page.7' > wanted
expect_same wanted found

set -- "$TX_SOURCE"/man/*.[57] "$TX_SOURCE"/man/*.1.in
for document in README.md lib/README.md lib/live/README.md tests/bench/README.md tests/bench/RESULTS.md \
  examples/README.md examples/claims/README.md; do
  [ ! -e "$TX_SOURCE/$document" ] || set -- "$@" "$TX_SOURCE/$document"
done
missing "$TX_SOURCE" "$@" > found
[ ! -s found ] || fail "these documents name files that do not exist:
$(cat found)"

# Options in pages and documents, against those that the tools list.
for command in train encode decode vocab shortlist; do tx-bpe $command --completion; done > options
for tool in tx-train tx-avg tx-decode tx-bleu tx-convert tx-attn-dump; do $tool --completion; done >> options
page=$TX_SOURCE/man/tx-paper.7

# unknown DOCUMENT: prints its options that no tool has, except those of ctest, pkg-config, mpirun,
# SentencePiece (with underscores) and GNU parallel.
unknown() {
  sed -e 's/\\-/-/g' -e 's/Fl -/Fl --/g' -e 's/ , -/ , --/g' "$1" |
    grep -oE '(^|[^A-Za-z0-9-])-{2,3}[a-z][a-z0-9_-]+' | sed 's/^[^-]*-*//' | sort -u |
    while read -r option; do
      case $option in test-dir | libs | bind-to | mca | *_* | pipe-part | block | sshloginfile) continue ;; esac
      grep -qE "(^|,)--${option}[ ,]" options && continue
      case $1 in *tx-bleu*) # also has sacreBLEU's names, which it does not list
        tx-bleu "--$option" < /dev/null 2>&1 | grep -q 'unknown option' || continue ;;
      esac
      echo "${1#"$TX_SOURCE"/}: --$option"
    done
}
# shellcheck disable=SC2016  # backticks of a document
printf '%s\n' '.Fl \-d\-fff , \-heads' 'With `--no-such 3` and --beam.' > page
unknown page > found
printf '%s\n' 'page: --d-fff' 'page: --no-such' > wanted
expect_same wanted found
for document; do unknown "$document"; done > found
[ ! -s found ] || fail "these documents name unknown options:
$(cat found)"

# Sections of tx-paper(7) that comments cite.
(cd "$TX_SOURCE" && grep -rhoE 'tx-paper\(7\), [0-9]\.[0-9]' lib kernels tools tests) |
  sed 's/.*, //' | sort -u > cited
[ -s cited ] || fail "no comment cites a section of tx-paper(7)"
while read -r section; do
  grep -q "^\.Sh $section " "$page" || fail "a comment cites tx-paper(7), $section, which does not exist"
done < cited

# Every script of tests/bench is in its README.
if [ -e "$TX_SOURCE/tests/bench/README.md" ]; then
  find "$TX_SOURCE/tests/bench" -name '*.sh' -o -name '*.py' -o -name '*.cpp' > scripts
  while read -r script; do
    grep -qF "$(basename "$script")" "$TX_SOURCE/tests/bench/README.md" ||
      fail "tests/bench/README.md has no line about $(basename "$script")"
  done < scripts
fi

# Figures that stand in several documents.
cat > figures << 'END'
41.7 (41.2 to 42.1), six seeds|README.md tests/bench/RESULTS.md
41.7 after 7 minutes|examples/paper/README.md tests/bench/RESULTS.md
40.6 to 41.5|examples/README.md examples/paper/README.md tests/bench/RESULTS.md
| 0 of 118 | Zen 4 |README.md tests/bench/RESULTS.md
5,465; PyTorch 2.15: 2,286 (2.4 times) | Zen 5 |README.md tests/bench/RESULTS.md
1,270 (3.3 times) | Zen 5 |README.md tests/bench/RESULTS.md
39.4|examples/README.md examples/speedrun/README.md
39.5|examples/README.md examples/speedrun/README.md
41.5|examples/README.md examples/speedrun/README.md
63,045,632|man/tx-paper.7 examples/README.md examples/claims/README.md
0.84 d|man/tx-paper.7 examples/paper/README.md examples/claims/README.md
course of 20 commands|README.md man/tx-paper.7
END

# differing ROOT: prints the documents below ROOT that lack their figure.
differing() {
  while read -r line; do
    figure=${line%|*}
    for document in ${line##*|}; do
      [ ! -e "$1/$document" ] || grep -qF -e "$figure" "$1/$document" || echo "$document: not $figure"
    done
  done < figures
}
differing "$TX_SOURCE" > found
[ ! -s found ] || fail "$(cat found)"
mkdir changed
sed 's/| 0 of 118 /| 1 of 118 /' "$TX_SOURCE/README.md" > changed/README.md
differing changed > found
echo 'README.md: not | 0 of 118 | Zen 4 ' > wanted
expect_same wanted found
