# Bracketed trees to sequences and back, for parse.sh.
#   awk -v what=words|labels|tree -f trees.awk < TREES
# reads trees as treebanks have them, one or many lines each, and writes a line for each: its words,
# the tree as a sequence, or the tree itself. Traces (-NONE-) are left out with what holds nothing
# else; labels lose what stands behind - or = (NP-SBJ); outermost brackets without a label, or
# labelled TOP, ROOT or S1, are taken off. In a sequence XX stands for a word, and a closing bracket
# has a label:
#   (S (NP XX XX )NP (VP XX )VP )S
#   awk -v what=close -v trees=FILE -f trees.awk < SEQUENCES
# makes a tree of each sequence, whatever it is, with the words and tags of the same line of FILE,
# which what=tree has written: a label that closes nothing is passed over, one that closes an outer
# constituent closes those inside, too; words too many are passed over, and those that are missing
# come at the end.

# The tree that is being made: for each open constituent its label, its text and whether that is
# empty.
function begin(label) {
  ++depth
  labels[depth] = label
  text[depth] = ""
}
function add(part) { text[depth] = text[depth] (text[depth] == "" ? "" : " ") part }
function finish(    inside, label) {
  inside = text[depth]
  label = labels[depth--]
  if (inside == "") return
  if (label == "" || what == "words") add(inside)
  else if (what == "labels") add("(" label " " inside " )" label)
  else add("(" label " " inside ")")
}
function plain(label) {
  if (label !~ /^-/) sub(/[-=].*/, "", label)
  return label ~ /^(TOP|ROOT|S1)$/ ? "" : label
}

# A constituent's label, or a word's tag, is known when what follows it is: `head` holds it.
function read_token(word) {
  if (word == "(") {
    if (waiting) begin(plain(head))
    waiting = 1
    head = ""
  } else if (word == ")") {
    if (waiting) waiting = 0 # of a word, or nothing inside
    else finish()
  } else if (waiting && head == "") {
    head = word
  } else if (head != "-NONE-") {
    add(what == "words" ? word : what == "labels" ? "XX" : "(" head " " word ")")
  }
}
function read_trees(line,    i, count, parts) {
  gsub(/[()]/, " & ", line)
  count = split(line, parts, " ")
  for (i = 1; i <= count; ++i) {
    open += (parts[i] == "(") - (parts[i] == ")")
    read_token(parts[i])
    if (open == 0) {
      print text[0]
      text[0] = ""
      depth = 0
    }
  }
}

# close_sequence: the tree of a sequence, with the words of `whole`.
function close_sequence(sequence, whole,    i, j, count, parts, words, leaves, used, label) {
  words = 0
  while (match(whole, /\([^() ]+ [^() ]+\)/)) {
    leaves[++words] = substr(whole, RSTART, RLENGTH)
    whole = substr(whole, RSTART + RLENGTH)
  }
  depth = 0
  text[0] = ""
  count = split(sequence, parts, " ")
  for (i = 1; i <= count; ++i) {
    label = substr(parts[i], 2)
    if (parts[i] ~ /^\(/) begin(label)
    else if (parts[i] ~ /^\)/) {
      for (j = depth; j > 1 && labels[j] != label; --j) continue
      # The outermost stays open until all words are in.
      if (j > 1) while (depth >= j) finish()
    } else if (used < words) {
      if (depth == 0) begin("S")
      add(leaves[++used])
    }
  }
  while (depth > 1) finish()
  if (depth == 0) begin("S")
  while (used < words) add(leaves[++used])
  finish()
  return text[0]
}

function die(message) {
  print "trees.awk: " message > "/dev/stderr"
  failed = 1
  exit 1
}
BEGIN {
  FS = "\n"
  close_them = what == "close"
}
close_them {
  if ((getline whole < trees) <= 0) die("too few trees in " trees)
  print close_sequence($0, whole)
  next
}
{ read_trees($0) }
END { if (!failed && !close_them && open != 0) die("unbalanced brackets") }
