# Usage errors: status 2, a message with the tool and the word, and nothing is written.
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

# An empty argument, as from an unset variable, is an error.
expect_usage_error '--tgt has an empty value: expected FILE' tx-decode -m none --tgt ""
expect_usage_error '--tgt has an empty value: expected FILE' tx-decode -m none --tgt= text
expect_usage_error '--memory has an empty value' tx-decode -m none --memory ""
expect_usage_error '--init has an empty value' tx-train --init "" -o run
expect_usage_error '--model has an empty value' tx-bpe encode -m ""

# No suggestion for an unknown letter.
expect_usage_error 'unknown option -m' tx-avg -m model
expect_stderr_lacks 'did you mean'
