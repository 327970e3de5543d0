# Numbers 0 to 999,999 in English and German words. Called by number_words.sh.
#
# British English: "and" after the hundreds, a hyphen in twenty-one, no commas. German numbers are
# one word and have "ein" before hundert and tausend:
#     1,001    one thousand and one          eintausendeins
#     42,713   forty-two thousand seven hundred and thirteen
#              zweiundvierzigtausendsiebenhundertdreizehn

function english_below_100(n) {
  if (n < 20) return english[n]
  return english_tens[int(n / 10)] (n % 10 ? "-" english[n % 10] : "")
}

function english_below_1000(n,    text) {
  if (n < 100) return english_below_100(n)
  text = english[int(n / 100)] " hundred"
  return n % 100 ? text " and " english_below_100(n % 100) : text
}

function english_words(n,    text, rest) {
  if (n < 1000) return english_below_1000(n)
  text = english_below_1000(int(n / 1000)) " thousand"
  rest = n % 1000
  if (rest == 0) return text
  return text (rest < 100 ? " and " : " ") english_below_1000(rest)
}

# `one` is the word for a final 1: "eins" at the end of the number, "ein" before tausend.
function german_below_100(n, one) {
  if (n == 1) return one
  if (n < 20) return german[n]
  return (n % 10 ? german[n % 10] "und" : "") german_tens[int(n / 10)]
}

function german_below_1000(n, one) {
  if (n < 100) return german_below_100(n, one)
  return german[int(n / 100)] "hundert" (n % 100 ? german_below_100(n % 100, one) : "")
}

function german_words(n) {
  if (n < 1000) return german_below_1000(n, "eins")
  return german_below_1000(int(n / 1000), "ein") "tausend" \
    (n % 1000 ? german_below_1000(n % 1000, "eins") : "")
}

function name_numbers() {
  split("one two three four five six seven eight nine ten eleven twelve thirteen fourteen " \
        "fifteen sixteen seventeen eighteen nineteen", english, " ")
  split("ten twenty thirty forty fifty sixty seventy eighty ninety", english_tens, " ")
  split("ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn " \
        "fünfzehn sechzehn siebzehn achtzehn neunzehn", german, " ")
  split("zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig", german_tens, " ")
  english[0] = "zero"
  german[0] = "null"
}

# The minimal standard generator of Park and Miller: rand() differs between versions of awk.
function below(count) {
  state = state * 16807 % 2147483647
  return int(state / 2147483647 * count)
}

# Half of the numbers are uniform over the whole range, in which nine tenths have six digits; the
# other half have 3, 4, 5 or 6 digits with equal probability.
function draw(    min) {
  if (below(2)) return below(1000000)
  min = 10 ^ (2 + below(4))
  return min + below(9 * min)
}

function write_pair(part, n) {
  taken[n] = 1
  print english_words(n) > (part ".en")
  print german_words(n) > (part ".de")
}

# Writes numbers that are not in another part. Numbers below 100 are for training only.
function write_drawn(part, count,    n) {
  while (count > 0) {
    n = draw()
    if (n < 100 || n in taken) continue
    write_pair(part, n)
    --count
  }
}

function write_corpus(    n) {
  state = 1000003
  write_drawn("test", test)
  write_drawn("valid", valid)
  for (n = 0; n < 1000; ++n) {
    if (train > 0 && !(n in taken)) {
      write_pair("train", n)
      --train
    }
  }
  write_drawn("train", train)
}

BEGIN {
  name_numbers()
  if (corpus) {
    write_corpus()
    exit
  }
}

{ print english_words($1) "\t" german_words($1) }
