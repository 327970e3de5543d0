# label: slow
# examples/ten_minutes.sh: drawings of at most 80 columns, no files left, and what part 7 claims:
# only large d_k need the division by sqrt(d_k). claims.sh checks the figures of the other parts.
mkdir temporary
expect_status 0 env TMPDIR="$PWD/temporary" sh "$TX_SOURCE/examples/ten_minutes.sh"
expect_empty_stderr
last_stdout > shown
for part in 1 2 3 4 5 6 7; do grep -qx "== $part" shown || fail "part $part is missing"; done
awk 'length > 80 { print; wide = 1 } END { exit wide }' shown || fail 'wider than 80 columns'
[ -z "$(ls temporary)" ] || fail "files left: $(ls temporary)"
sed '1,/^== 7/d' shown | awk '
  $2 == "yes" || $2 == "no" {
    ++models
    right = $2 == "no" && $1 > 2 ? $3 > 1.2 && $4 < 450 : $3 < 1.1 && $4 > 450
    if (!right) { print; wrong = 1 }
  }
  END { exit wrong || models != 6 }' || fail "$(cat shown)"
expect_status 2 sh "$TX_SOURCE/examples/ten_minutes.sh" 8
expect_stderr 'usage: ten_minutes.sh [PART]...; parts are 1 to 7'
