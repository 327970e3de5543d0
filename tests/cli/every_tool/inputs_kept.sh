# An output that is also an input is an error before anything is opened, for every output and
# input of every tool and under every name of the file; the input is not changed.
mkdir folder
echo 'kept' > folder/input
cp folder/input wanted
ln -s folder/input link
ln folder/input hard
: > other

refuses() { # COMMAND...: with `message`
  # shellcheck disable=SC2086  # tool and command
  expect_status 2 $command "$@"
  expect_stderr_contains "$message"
  expect_same folder/input wanted
}

pairs=0
for tool in $(tools); do
  commands "$tool" > list
  while read -r command; do
    # shellcheck disable=SC2086
    $command --completion > options
    for output in $(sed -n 's/^\([^ ]*\) output\t.*/\1/p' options); do
      output=${output#*,}
      for input in $(sed -n 's/^\([^ ]*\) \(file\|folder\)\t.*/\1/p' options); do
        input=${input#*,}
        for name in folder/input ./folder/input link hard; do
          message="$output $name is also an input"
          refuses "$output" "$name" "$input" folder/input
        done
        message="$output folder/input is in the input directory folder"
        refuses "$output" folder/input "$input" folder
        pairs=$((pairs + 1))
      done
      # Also as a positional argument and as standard input.
      message="$output folder/input"
      # shellcheck disable=SC2086
      expect_status 2 $command "$output" folder/input folder/input
      last_stderr | grep -q -e "$message is also an input" -e "unexpected argument" ||
        fail "$command: $(last_stderr)"
      expect_same folder/input wanted
      # shellcheck disable=SC2086
      expect_status 2 $command "$output" folder/input < folder/input
      expect_stderr_contains "$output folder/input is also standard input"
      expect_same folder/input wanted
    done
  done < list
done
[ "$pairs" -ge 45 ] || fail "only $pairs pairs of output and input"

# An output must not be a file of a run, even if the run is not an input.
mkdir run
for file in config.json log.jsonl lock train.ids model-3.safetensors best.safetensors; do
  echo "$file" > run/$file
done
ln -s run elsewhere
cp -r run wanted.run
for tool in $(tools); do
  commands "$tool" > list
  while read -r command; do
    # shellcheck disable=SC2086
    for output in $($command --completion | sed -n 's/^\([^ ]*\) output\t.*/\1/p'); do
      output=${output#*,}
      for file in config.json log.jsonl train.ids model-3.safetensors model-4.safetensors best.safetensors; do
        for name in run/$file elsewhere/$file; do
          # shellcheck disable=SC2086
          expect_status 2 $command "$output" $name
          expect_stderr_contains "$output $name belongs to the run directory"
        done
      done
    done
  done < list
done
diff -r run wanted.run || fail 'a file of the run was changed'

# Descriptors, devices and standard output are not inputs, and other files in a run directory are
# allowed.
expect_status 1 tx-decode -m none --status 5 other 5<> other
expect_stderr_contains 'cannot read none'
expect_status 1 tx-decode -m none --status /dev/null /dev/null
expect_stderr_contains 'cannot read none'
echo old > run/page.html
expect_status 1 tx-train --describe --init run --html run/page.html
expect_stderr_lacks 'choose another name'
