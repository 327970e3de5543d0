# Prints sentences with two people and a pronoun that only the gender relates to one of them, for
# find_heads.sh. Of each four, one has each person first and each pronoun, so that the nearest
# person, the first person or always the woman is right in exactly half of them. The lines that
# select have other people than those that judge: otherwise a head can be right on both by accident,
# because its weights depend on the words.
BEGIN {
  split("man guy boy father", man)
  split("woman lady girl mother", woman)
  n = split("a X and a Y are standing on the street , and P dog is running ." \
    "|a X is talking to a Y about P bike ." \
    "|a X is sitting next to a Y in P car ." \
    "|a X is standing behind a Y and P dog ." \
    "|a X looks at a Y while P friend is playing guitar ." \
    "|a X walks down the street with a Y and P baby ." \
    "|a X and a Y are sitting on a bench with P bag on the ground ." \
    "|a X is watching a Y near P house ." \
    "|a X plays with a Y in front of P tent ." \
    "|a X and a Y are in a kitchen , cooking for P family .", sentence, "|")
  for (s = 1; s <= n; ++s)
    for (m = 1; m <= 2; ++m)
      for (w = 1; w <= 2; ++w)
        for (k = 0; k < 8; ++k) {
          half = 2 * (int(k / 2) % 2)  # two lines of each in turn
          print fill(sentence[s], man[m + half], woman[w + half], k % 2, int(k / 4))
        }
}

function fill(text, man, woman, woman_last, her) {
  sub("X", woman_last ? man : woman, text)
  sub("Y", woman_last ? woman : man, text)
  sub("P", her ? "her" : "his", text)
  return text
}
