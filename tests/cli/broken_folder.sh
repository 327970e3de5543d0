# For scripts that break a model directory: f is a copy of the directory $golden, restored after
# each error. An error is one line, status 1, and no output; no code of a pickle runs.
refused() { # TEXT, of the folder f
  expect_status 1 tx-convert -o out f
  expect_empty_stdout
  expect_stderr_contains "$1"
  [ "$(last_stderr | wc -l)" -eq 1 ] || fail 'more than one line'
  expect_no_file out
  expect_no_file hacked
  restore
}
edit() { # FILE SED-SCRIPT
  sed "$2" "f/$1" > edited
  ! cmp -s edited "f/$1" || fail "nothing to edit: $2"
  mv edited "f/$1"
}
# broken: for each line "COMMAND => TEXT" of standard input: `refused TEXT` after COMMAND.
broken() {
  cat > "$TX_LAST/rows"
  while IFS= read -r row <&9; do
    eval "${row%% => *}" < /dev/null
    refused "${row#* => }"
  done 9< "$TX_LAST/rows"
}
shorten() { head -c "$2" "f/$1" > part && mv part "f/$1"; } # FILE BYTES
hostile() { # FILE: a pickle that would run code
  printf '\200\002cos\nsystem\n(X\014\000\000\000touch hackedtR.' > "f/$1"
}
shards() { # MAP, of tensors to files
  mv f/model.safetensors f/a.safetensors
  printf '{"weight_map": {%s}}' "$1" > f/model.safetensors.index.json
}
restore() {
  rm -rf f
  cp -r "$golden" f
}
restore
