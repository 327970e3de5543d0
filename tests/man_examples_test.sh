# Tests man_examples.sh: accepted examples, and failures.

# page EXAMPLES: writes tx-page.1.in with these examples, after text and a block without commands,
# which are not run.
page() {
  printf '.Sh %s\n$ false\n.Bd -literal\nfalse\n.Ed\nText.\n' "${section:-EXAMPLES}" > tx-page.1.in
  printf '.Bd -literal -offset indent\n%s\n.Ed\n.Sh SEE ALSO\n' "$1" >> tx-page.1.in
}
run_page() {
  expect_status "$1" sh "$TX_SOURCE/tests/cli/run.sh" "$TX_SOURCE/tests/man_examples.sh" \
    "$PWD/tx-page.1.in"
}

page '$ word=a\-b
$ printf "%s\en" $word c
a-b
c
$ printf "1\en2\en3\en"
1
...
$ seq 9
...
9
$ echo one \e
> two
one two
$ false
[status 1]
$ echo ignored'
run_page 0
section=DESCRIPTION
run_page 0

for wrong in '$ false' '$ echo a
b' '$ printf "1\en2\en"
1' '$ printf "1\en"
1
2' '$ seq 9
...
8' '$ true
[status 1]' '$ exit 0' 'no command'; do
  page "$wrong"
  run_page 1
done
