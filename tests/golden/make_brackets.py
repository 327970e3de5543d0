#!/usr/bin/env python3
"""Writes brackets.jsonl: the counts of EVALB with COLLINS.prm for pairs of trees.

usage: make_brackets.py EVALB COLLINS.prm > brackets.jsonl
       make_brackets.py EVALB COLLINS.prm TX-BLEU TREES...

EVALB is the program of Sekine and Collins, compiled from its source. A line of brackets.jsonl is a
pair: reference and hypothesis, tagged as EVALB reads them, and the numbers of matched constituents,
of those of the reference and of those of the hypothesis, or null if EVALB ignores the pair: trees
without words or with different numbers of words. The trees are random with few labels, so that all
rules apply: deleted labels, traces, functions, PRT and ADVP, equal constituents, different numbers of
words.

With TX-BLEU and files of tagged trees, one per line, both programs compare every tree with itself and
with a damaged copy; without deleted words, linearised trees must give the same counts as tagged ones.
Ends with status 1 at a difference.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

LABELS = ["S", "NP", "VP", "PP", "NP-SBJ", "NP=2", "ADVP", "PRT", "ADVP-TMP", "SBAR", "TOP", ":",
          "X"]
TAGS = ["NN", "DT", "VB", "JJ", ",", ".", ":", "``", "''", "-NONE-", "-LRB-", "PRT", "TOP",
        "CC"]
LEFT_OUT = {"TOP", "-NONE-", ",", ":", "``", "''", "."}
# EVALB's arrays.
MOST_WORDS, MOST_BRACKETS, MOST_BYTES, LONGEST_LABEL, LONGEST_WORD = 199, 199, 4900, 28, 98


def parse(line):
    """A tree is (label, children), a word (tag, text)."""
    tokens = re.findall(r"\([^\s()]*|\)|[^\s()]+", line)
    stack = [("", [])]
    for token in tokens:
        if token[0] == "(":
            stack.append((token[1:], []))
        elif token == ")":
            label, children = stack.pop()
            if len(children) == 1 and isinstance(children[0], str):
                stack[-1][1].append((label, children[0]))
            else:
                stack[-1][1].append((label, children))
        else:
            stack[-1][1].append(token)
    return stack[0][1][0]


def text_of(tree):
    label, inside = tree
    inside = inside if isinstance(inside, str) else " ".join(text_of(child) for child in inside)
    return f"({label} {inside})"


def linear(tree):
    label, inside = tree
    if isinstance(inside, str):
        return "XX"
    return f"({label} " + " ".join(linear(child) for child in inside) + f" ){label}"


def random_tree(source, depth=0):
    children = []
    for _ in range(source.randrange(1, 5)):
        if depth < 5 and source.random() < 0.45:
            children.append(random_tree(source, depth + 1))
        else:
            children.append((source.choice(TAGS), source.choice("abcde")))
    return (source.choice(LABELS), children)


def damaged(source, tree, rate, labels):
    """Changes labels, and removes or adds constituents; the words are kept."""
    label, inside = tree
    if isinstance(inside, str):
        return [tree]
    children = [new for child in inside for new in damaged(source, child, rate, labels)]
    if len(children) > 2 and source.random() < rate:
        begin = source.randrange(len(children) - 1)
        end = source.randrange(begin + 1, len(children) + 1)
        children[begin:end] = [(source.choice(labels), children[begin:end])]
    if source.random() < rate:
        return children
    return [(source.choice(labels) if source.random() < rate else label, children)]


def other(source, tree, rate, labels):
    new = damaged(source, tree, rate, labels)
    return new[0] if len(new) == 1 and not isinstance(new[0][1], str) else (tree[0], new)


def without_a_word(source, tree):
    label, inside = tree
    at = source.randrange(len(inside))
    return (label, inside[:at] + inside[at + 1:]) if len(inside) > 1 else tree


def leaves(tree):
    if isinstance(tree[1], str):
        return [tree]
    return [leaf for child in tree[1] for leaf in leaves(child)]


def fits(tree):
    """Whether it fits into EVALB's arrays."""
    text = text_of(tree)
    names = [len(name) for name in re.findall(r"\(([^\s()]*)", text)]
    words = leaves(tree)
    return (len(text.encode()) < MOST_BYTES and len(words) < MOST_WORDS
            and max(names) < LONGEST_LABEL and len(names) - len(words) < MOST_BRACKETS
            and not isinstance(tree[1], str)
            and max(len(text.encode()) for _, text in words) < LONGEST_WORD)


def write(folder, name, lines):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
    return path


def evalb(program, rules, pairs):
    """[matched, reference, hypothesis] of each pair, or None."""
    with tempfile.TemporaryDirectory() as folder:
        files = [write(folder, str(i), [text_of(pair[i]) for pair in pairs]) for i in range(2)]
        out = subprocess.run([program, "-p", rules, "-e", "1000000", *files],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    rows = re.findall(rb"^ *(\d+) +\d+ +(\d) +[\d.]+ +[\d.]+ +(\d+) +(\d+) +(\d+) ", out, re.M)
    assert [int(row[0]) for row in rows] == list(range(1, len(pairs) + 1)), "a line is missing"
    return [[int(n) for n in row[2:]] if row[1] == b"0" else None for row in rows]


def random_pairs(count):
    source = random.Random(29)
    while count > 0:
        tree = random_tree(source)
        new = other(source, tree, source.choice([0, 0.1, 0.4]), LABELS)
        if source.random() < 0.1:
            new = without_a_word(source, new)
        if fits(tree) and fits(new):
            count -= 1
            yield tree, new


def counted(tool, pairs, form):
    """As evalb(), by tx-bleu."""
    with tempfile.TemporaryDirectory() as folder:
        files = [write(folder, str(i), [form(pair[i]) for pair in pairs]) for i in range(2)]
        out = subprocess.run([tool, "--metric", "f1", "--stats", "-i", files[1], files[0]],
                             stdout=subprocess.PIPE, check=True, text=True).stdout
    rows = [[int(float(x)) for x in line.split()[1:]] for line in out.splitlines()[1:]]
    return [None if row[5] or not row[4] else [row[0], row[2], row[1]] for row in rows]


def compare(program, rules, tool, files):
    source = random.Random(5)
    trees = [parse(line) for name in files for line in open(name, encoding="utf-8") if line.strip()]
    labels = sorted({label for tree in trees[:500] for label in re.findall(r"\(([^\s()]*) \(",
                                                                          text_of(tree))})
    pairs = [(tree, other(source, tree, rate, labels)) for tree in trees for rate in (0, 0.15)]
    roomy = [pair for pair in pairs if fits(pair[0]) and fits(pair[1])]
    wanted = evalb(program, rules, roomy)
    for pair, theirs, ours in zip(roomy, wanted, counted(tool, roomy, text_of)):
        if theirs != ours:
            sys.exit(f"EVALB {theirs}, tx-bleu {ours}\n{text_of(pair[0])}\n{text_of(pair[1])}")
    sums = [sum(row[k] for row in wanted if row) for k in range(3)]
    print(f"{len(roomy)} of {len(pairs)} pairs agree (the others exceed EVALB's arrays); "
          f"{wanted.count(None)} left out; matched, reference, hypothesis: {sums}")
    plain = [pair for pair in roomy if LEFT_OUT.isdisjoint(tag for tag, _ in leaves(pair[0]))]
    if plain and counted(tool, plain, linear) != counted(tool, plain, text_of):
        sys.exit("linearised and tagged trees have different counts")
    print(f"{len(plain)} of them without deleted words agree when linearised")


def main():
    if len(sys.argv) > 4:
        return compare(*sys.argv[1:4], sys.argv[4:])
    pairs = list(random_pairs(400))
    for pair, counts in zip(pairs, evalb(*sys.argv[1:3], pairs)):
        print(json.dumps([text_of(pair[0]), text_of(pair[1]), counts]))


if __name__ == "__main__":
    main()
