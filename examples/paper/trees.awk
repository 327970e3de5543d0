# Converts bracketed trees to sequences and back, for parse.sh.
#   awk -v what=words|labels|tree -f trees.awk < TREES
# reads a treebank, whose trees may span several lines, and writes a line per tree: its words, the
# tree as a sequence, or the tree itself. Traces (-NONE-) and constituents without other words are
# dropped, labels are cut at - or = (NP-SBJ), and outermost brackets without a label or labelled
# TOP, ROOT or S1 are removed. In a sequence XX is a word, and closing brackets have labels:
#   (S (NP XX XX )NP (VP XX )VP )S
#   awk -v what=close -v trees=FILE -f trees.awk < SEQUENCES
# makes a tree of any sequence, with the words and tags of the same line of FILE, an output of
# what=tree. A closing label that matches no open constituent is ignored; one that matches an outer
# constituent closes the inner ones too. Surplus words are ignored; missing words are appended.

# The tree that is being built: label and text of each open constituent.
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

# `head` is the last label or tag; the next token tells which of the two it is.
function read_token(word) {
  if (word == "(") {
    if (waiting) begin(plain(head))
    waiting = 1
    head = ""
  } else if (word == ")") {
    if (waiting) waiting = 0 # end of a word, or of empty brackets
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

# close_sequence: the tree of a sequence, with the words of the tree `whole`.
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
      # The outermost constituent stays open until all words are added.
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
