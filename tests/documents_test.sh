# The paths, options and sections of tx-paper(7) that pages and documents name exist, every script
# of tests/bench is documented, and the check detects errors.
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
  examples/README.md; do
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
