# examples/number_words.sh: the words, and a corpus with disjoint parts.
number_words="$TX_SOURCE/examples/number_words.sh"

words() { # NUMBER ENGLISH GERMAN
  expect_status 0 sh -c "echo $1 | sh '$number_words' --words"
  expect_stdout "$(printf '%s\t%s' "$2" "$3")"
}
words 0 'zero' 'null'
words 1 'one' 'eins'
words 12 'twelve' 'zwölf'
words 16 'sixteen' 'sechzehn'
words 17 'seventeen' 'siebzehn'
words 21 'twenty-one' 'einundzwanzig'
words 30 'thirty' 'dreißig'
words 66 'sixty-six' 'sechsundsechzig'
words 100 'one hundred' 'einhundert'
words 101 'one hundred and one' 'einhunderteins'
words 700 'seven hundred' 'siebenhundert'
words 777 'seven hundred and seventy-seven' 'siebenhundertsiebenundsiebzig'
words 1000 'one thousand' 'eintausend'
words 1001 'one thousand and one' 'eintausendeins'
words 1100 'one thousand one hundred' 'eintausendeinhundert'
words 16000 'sixteen thousand' 'sechzehntausend'
words 21021 'twenty-one thousand and twenty-one' 'einundzwanzigtausendeinundzwanzig'
words 42713 'forty-two thousand seven hundred and thirteen' \
  'zweiundvierzigtausendsiebenhundertdreizehn'
words 201001 'two hundred and one thousand and one' 'zweihunderteintausendeins'
words 999999 \
  'nine hundred and ninety-nine thousand nine hundred and ninety-nine' \
  'neunhundertneunundneunzigtausendneunhundertneunundneunzig'

# The words of all numbers are distinct in both languages.
awk 'BEGIN { for (n = 0; n < 1000000; ++n) print n }' | sh "$number_words" --words > all
for column in 1 2; do
  cut -f $column all | LC_ALL=C sort -u > distinct
  [ "$(wc -l < distinct)" -eq 1000000 ] || fail "column $column: two numbers have the same words"
done

sh "$number_words" 5000 300 1000 corpus
for part in train:5000 valid:300 test:1000; do
  paste corpus/${part%:*}.en corpus/${part%:*}.de > ${part%:*}
  [ "$(wc -l < ${part%:*})" -eq "${part#*:}" ] || fail "${part%:*} has a wrong size"
done
[ "$(cat train valid test | LC_ALL=C sort -u | wc -l)" -eq 6300 ] || fail "the parts overlap"
head -n 1000 all | LC_ALL=C sort > small
cat train valid test | LC_ALL=C sort | LC_ALL=C comm -23 small - > missing
[ ! -s missing ] || fail "some numbers below 1,000 are missing"
cat train valid test | LC_ALL=C sort > written
LC_ALL=C sort all | LC_ALL=C comm -13 - written > wrong
[ ! -s wrong ] || fail "a pair is wrong"
sh "$number_words" 5000 300 1000 again
expect_same corpus/train.de again/train.de
expect_same corpus/test.en again/test.en

expect_status 2 sh "$number_words" 10 10 corpus
expect_status 2 sh "$number_words" 10 10 x corpus
expect_status 2 sh "$number_words" 999999 10 10 corpus
