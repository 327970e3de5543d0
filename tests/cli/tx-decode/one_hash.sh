# 8-bit weights give the same text and scores, byte for byte, with every instruction set that has
# FMA, on x86 and on ARM64: 3,003 lines, one SHA-256; and 1,000 by a student of Firefox.
make_model model words 500 d_model 72 d_ff 120 heads 3
tx-avg --to int8 -q -o int8 model
awk 'BEGIN {
  x = 1
  for (i = 0; i < 3003; ++i) {
    line = ""
    for (j = 0; j < i % 23; ++j) {
      x = (x * 16807) % 2147483647
      line = line "w" 4 + x % 496 " "
    }
    print line
  }
}' > in
expect_hash() { # SHA256 TEXT COMMAND..
  wanted=$1 text=$2
  shift 2
  got=$("$@" < "$text" 2> log | sha256sum)
  [ "$got" = "$wanted  -" ] || fail "$*: SHA-256 $got, isa ${TX_MAX_ISA:-}: $(cat log)"
}
expect_hash 639bd5b93c2b0b1993a749545da5922615f5bccdb63fc6000c62cd6745b6c350 in cat

decode='tx-decode -m int8 --scores --max-extra 3'
beam_4=2411685cf8d0e8d3649eecc4efc2305af4f2a356a7763cb95d933899da2f1176
greedy=276ec59766ac06243a9e632f8a894eddc94ade743c7057713bb93fa706265f09
expect_hash $beam_4 in $decode
expect_hash $greedy in $decode --beam 1 --batch-tokens 64

# The golden translator in Firefox's format, with a recurrent decoder.
awk 'BEGIN {
  split("zero one two three four five six seven eight nine", word)
  x = 1
  for (i = 0; i < 1000; ++i) {
    line = ""
    for (j = 0; j <= i % 6; ++j) {
      x = (x * 16807) % 2147483647
      line = line word[1 + x % 10] " "
    }
    print line "."
  }
}' > numbers
tx-convert -q -o firefox "$TX_SOURCE/tests/golden/marian_npz/firefox"
student='tx-decode -m firefox --scores --beam 1'
of_student=e26a137f80410c5cbcddbfa8c92b04c43f153ebce3a048ae9490a6969dabce26
expect_hash $of_student numbers $student

# The instruction sets of this architecture, from the error message; SSE41 has no FMA.
TX_MAX_ISA=none tx-decode -m int8 < in > out 2> names && fail 'TX_MAX_ISA=none is accepted'
sets=$(sed -n 's/.*use one of //p' names | tr -d ,)
[ "$(echo "$sets" | wc -w)" -gt 3 ] || fail "no instruction sets in: $(cat names)"
for isa in $sets; do
  [ "$isa" = SSE41 ] && continue
  TX_MAX_ISA=$isa expect_hash $greedy in $decode --beam 1
  TX_MAX_ISA=$isa expect_hash $of_student numbers $student
done
