# Every tool has a page with the usual sections and all options, and no page has formal errors.
for tool in $(tools); do
  page=$TX_BUILD/man/$tool.1
  expect_file "$page"
  for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES "EXIT STATUS" "SEE ALSO"; do
    grep -qE "^\.Sh \"?$section\"?\$" "$page" || fail "$tool(1) has no section $section"
  done
  commands "$tool" | while read -r command; do
    # shellcheck disable=SC2086  # tool and command
    for option in $($command --completion | cut -d ' ' -f 1 | tr ',' '\n' | grep '^--'); do
      macro=$(printf '%s' "${option#-}" | sed 's/-/\\-/g')
      grep -qF -e "Fl $macro" "$page" || fail "$tool(1) does not list $option of $command"
    done
  done
done

if command -v mandoc > /dev/null; then
  for page in "$TX_BUILD"/man/*.[157]; do
    [ -e "$page" ] || continue
    # Dates and references to pages of other commits are not formal errors.
    mandoc -T lint -W warning "$page" | grep -v -e 'referenced manual not found' > faults || true
    [ ! -s faults ] || fail "$(cat faults)"
  done
fi

# groff, which is Debian's man, has limits of its own: with more than eight authors of a work it
# drops the rest of the page.
if command -v groff > /dev/null; then
  for page in "$TX_BUILD"/man/*.[157]; do
    groff -k -mandoc -T utf8 "$page" 2> faults > page || true
    [ ! -s faults ] || fail "$page: $(cat faults)"
  done
fi
