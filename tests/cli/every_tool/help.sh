# --help and --version of every tool: status 0, on standard output.
[ -n "$(tools)" ] || fail "no tool is built"
for tool in $(tools); do
  expect_status 0 "$tool" --version
  expect_empty_stderr
  last_stdout | head -n 1 | grep -qE "^$tool [0-9]+\.[0-9]+\.[0-9]+ \(commit [0-9a-z]+\)\$" ||
    fail "first line of $tool --version"
  expect_stdout_contains "compiler: "
  expect_status 0 "$tool" --help
  expect_stdout_contains "usage: $tool"
  expect_empty_stderr
done

# Every option has a line of help, and no line is wider than 100 columns.
for tool in $(tools); do
  commands "$tool" | while read -r command; do
    # shellcheck disable=SC2086  # tool and command
    expect_status 0 $command --help-all
    last_stdout | awk 'length > 100 { exit 1 }' || fail "a line of $command --help is too wide"
    cp "$TX_LAST/stdout" help
    grep -q '^  -q, --quiet ' help || fail "$command has no -q"
    $command --completion | cut -d ' ' -f 1 | tr ',' '\n' | grep '^--' | grep -v '^--no-' > names
    while read -r name; do
      sed 's/\[no-\]//' help | grep -qwF -e "$name" || fail "$command --help-all lacks $name"
    done < names
  done
done

# --help of the two tools with the most options lists the usual ones.
for tool in tx-train tx-decode; do
  "$tool" --help | grep -oE '^ +(-., )?--[a-z-]+' | sed 's/.* //' > listed
  [ "$(wc -l < listed)" -eq 33 ] || fail "$tool --help lists $(wc -l < listed)" # with the three below
  "$tool" --help-all > help
  while read -r name; do
    grep -qwF -e "$name" help || fail "$tool --help-all lacks $name"
  done < listed
  tail -n 5 help | grep -q -- '--help-all  *print all options and exit' || fail "$tool: $(tail -n 5 help)"
done

[ "$(head -c 2 "$(command -v tx-train)")" != '#!' ] || exit 0 # tests/arm: it starts qemu

# The manual page that --help names exists, also in a build tree.
for tool in $(tools); do
  command=$("$tool" --help | sed -n 's/^More in the manual: //p')
  [ "$command" = "man -l $TX_BUILD/man/$tool.1" ] || fail "$tool --help names: $command"
  expect_file "$TX_BUILD/man/$tool.1"
  [ "$(cd "$TX_BUILD/.." && "$tool" --help | sed -n 's/^More in the manual: //p')" = \
    "man -l $(basename "$TX_BUILD")/man/$tool.1" ] || fail "$tool --help names no near page"
  cp -L "$(command -v "$tool")" moved && mkdir -p prefix/bin && mv moved "prefix/bin/$tool"
  LD_LIBRARY_PATH=$TX_BUILD/lib "prefix/bin/$tool" --help > help
  grep -qx "More in the manual: man $tool" help || fail "$tool elsewhere: $(tail -n 1 help)"
done

# --help takes at most 50 ms in at least one of forty tries (other tests may be running).
[ "${TX_SANITIZE:-OFF}" = OFF ] || exit 0
for tool in $(tools); do
  attempt=0 took=1000
  while [ "$took" -ge 50 ]; do
    attempt=$((attempt + 1))
    [ "$attempt" -le 40 ] || fail "$tool --help takes $took ms"
    begin=$(date +%s%N)
    "$tool" --help > help
    took=$((($(date +%s%N) - begin) / 1000000))
  done
done
