# A wrong command line: status 2, a message that names the tool and the word, nothing begun.
for tool in $(tools); do
  commands "$tool" > list
  while read -r command; do
    # shellcheck disable=SC2086  # tool and command
    expect_status 2 $command --no-such-option < /dev/null
    expect_empty_stdout
    expect_stderr_contains "$tool: unknown option --no-such-option"
    expect_stderr_contains "try $tool"
    # shellcheck disable=SC2086
    expect_status 2 $command --hepl < /dev/null
    expect_stderr_contains "did you mean --help?"
  done < list
done
