# --describe: the data flow.

# The parameters of the diagram, those of a layer times the layers, are the total of the list.
for options in '--preset base' '--preset modern' '--kind decoder --preset toy' \
  '--kind encoder --preset toy --positions learned'; do
  # shellcheck disable=SC2086  # several words
  expect_status 0 tx-train --describe --device cpu $options
  last_stdout | awk '
    /^parameters$/ { listed = 1 }
    listed && $1 == "total" && NF == 2 && !total { total = $2 }
    listed { next }
    NF == 0 || /after the last layer/ { times = 1 }
    / layers of / { times = $1; next }
    times && /   [0-9,]+$/ { n = $NF; gsub(",", "", n); sum += times * n }
    END { if (!sum || sum != total) { print sum " instead of " total; exit 1 } }' ||
    fail "$options: the parameters of the data flow"
done
