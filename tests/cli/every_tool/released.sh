# Files, run directories, command lines and options of every release work: tests/released/VERSION
# has a model in 8 bits (with the output that it gave), a run directory, commands and option names.
tools='tx-attn-dump tx-avg tx-bleu tx-bpe tx-convert tx-decode tx-train'
# options_of TOOL [COMMAND]: lines "TOOL [COMMAND] OPTION"
options_of() {
  "$@" --completion | awk -v tool="$*" '/^-/ {
    n = split($1, names, ",")
    for (i = 1; i <= n; ++i) print tool, names[i]
  }'
}
all_options() {
  for tool in $tools; do
    options_of "$tool"
    "$tool" --completion | sed -n 's/^\([a-z][a-z-]*\).*/\1/p' | tr ' ' '\n' | while read -r command; do
      options_of "$tool" "$command"
    done
  done | sort -u
}
all_options > options
[ "$(wc -l < options)" -gt 300 ] || fail "only $(wc -l < options) options were found"

for release in "$TX_SOURCE"/tests/released/*/; do
  version=$(basename "$release")
  cp -RP "$release" "$version"
  chmod -R u+w "$version"
  missing=$(comm -23 "$version/options" options)
  [ -z "$missing" ] || fail "options of $version that are unknown now: $missing"
  (
    cd "$version"
    expect_status 0 tx-decode -m int8.safetensors src.txt
    expect_stdout_file output
    while IFS= read -r line; do
      sh -euc "$line" > out 2> err < /dev/null || fail "$version: $line: $(cat err)"
    done < commands
    [ "$(tail -n 1 run/log.jsonl | sed 's/.*"step":\([0-9]*\).*/\1/')" = 151 ] ||
      fail "$version: the run was not resumed"
  )
done

# The release that is being prepared is the newest one of the list, or a later one.
expect_status 0 tx-decode --version
now=$(last_stdout | sed -n '1s/^tx-decode \([0-9.]*\).*/\1/p')
[ "$(printf '%s\n' "$version" "$now" | sort -V | tail -n 1)" = "$now" ] ||
  fail "version $now is older than $version"
