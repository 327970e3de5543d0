# label: node
# The page of --live has every variant of a model that the C++ code has, with the same values.
need_node
node "$TX_SOURCE/tests/node/variants_test.js"
