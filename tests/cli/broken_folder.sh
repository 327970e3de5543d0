# For scripts that break a model directory: f is a copy of the directory $golden, restored after
# each error. An error is one line, status 1, and no output.
refused() { # TEXT, of the folder f
  expect_status 1 tx-convert -o out f
  expect_empty_stdout
  expect_stderr_contains "$1"
  [ "$(last_stderr | wc -l)" -eq 1 ] || fail 'more than one line'
  expect_no_file out
  rm -rf f
  cp -r "$golden" f
}
edit() { # FILE SED-SCRIPT
  sed "$2" "f/$1" > edited
  ! cmp -s edited "f/$1" || fail "nothing to edit: $2"
  mv edited "f/$1"
}
cp -r "$golden" f
