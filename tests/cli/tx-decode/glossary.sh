# --glossary: each output has the translation of each term of its line.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
small_train -o run 2> run.log || fail "$(cat run.log)"
printf 'three\tdrei\nseven\tsieben|siebzehn\nnine\tneun\nfive\txyz\n' > terms
tx-decode -q -m run valid.en > plain
expect_status 0 tx-decode -m run --glossary terms valid.en
cp "$TX_LAST/stdout" with
expect_empty_stderr
# Lines without a term, and those whose output has its terms, are translated as ever.
paste valid.en plain with | awk -F '\t' '
  function has(text, word) { gsub("-", " ", text); return (" " text " ") ~ (" " word " ") }
  function lacks(text) {
    return has($1, "three") && !has(text, "drei") || has($1, "nine") && !has(text, "neun") ||
      has($1, "seven") && !has(text, "sieben") && !has(text, "siebzehn") ||
      has($1, "five") && !has(text, "xyz")
  }
  lacks($3) { print NR ": " $0 }
  !lacks($2) && $2 != $3 { print NR ": changed: " $0 }
  lacks($2) { ++lacking }
  END { if (lacking < 10 || NR != 40) print lacking " of " NR " lack a term" }' > wrong
[ ! -s wrong ] || fail "$(cat wrong)"
for options in '--beam 1' '--threads 3 --batch-tokens 40' '--markup html' '--split 4' '-m run'; do
  # shellcheck disable=SC2086
  tx-decode -q -m run --glossary terms $options valid.en > other || fail "$options"
  [ "$options" = '--markup html' ] && expect_same other with
  [ "$options" = '--threads 3 --batch-tokens 40' ] && expect_same other with
  grep -w five valid.en > five || fail 'no five'
  [ "$(grep -cw xyz other)" -eq "$(wc -l < five)" ] || fail "$options: $(cat other)"
done

# What the vocabulary cannot write is a state of the line.
small_train --vocab words -o listed 2> run.log || fail "$(cat run.log)"
echo 'three	Хx' > terms
expect_status 0 tx-decode -m listed --glossary terms --status 3 valid.en 3> status
expect_stderr_contains 'outputs lacking phrases of --constraints, --constraints-file or --glossary'
[ "$(grep -c unmet status)" -eq "$(grep -cw three valid.en)" ] || fail "$(cat status)"

# Only terms before the cut of a long line count.
echo 'six hundred and five hundred and three' > cut
printf 'three\tdrei\nfive\txyz\n' > terms
expect_status 0 tx-decode -m run --glossary terms --max-length 12 cut
expect_stdout_contains xyz
expect_stderr_lacks lacking

printf 'three\tdrei\nseven sieben\n' > terms
expect_status 1 tx-decode -m run --glossary terms valid.en
expect_stderr_contains 'terms:2: no tab'
expect_status 2 tx-decode -m run --glossary terms --prefix valid.en
expect_stderr_contains '--glossary cannot be used with --prefix'
