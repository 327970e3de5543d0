"""What tx-decode --glossary costs: terms in the translations, BLEU and time.

  python3 tests/bench/glossary.py BIN MODEL DATA

DATA is as for examples/multi30k.sh. Makes three glossaries from the word alignments of MODEL, and
translates the test text without them, with each, and with the first forms as --constraints-file:
  forms   words of the training text and all their translations of at least 5 %
  first   the same with the most frequent translation alone, so that nothing may inflect
  rare    rare words of the test text and the words that its reference has for them
A term counts where the output has one of its forms between spaces, punctuation or hyphens.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile
import time

BIN, MODEL, DATA = sys.argv[1:]
TEST = "test_2016_flickr"


def path(name, language):
    return f"{DATA}/{name}.lc.norm.tok.{language}"


def lines(file):
    return open(file, encoding="utf-8").read().split("\n")[:-1]


def tool(name, *options, stdin):
    return subprocess.run([f"{BIN}/{name}", *options], stdin=open(stdin), capture_output=True,
                          text=True, check=True).stdout.split("\n")[:-1]


def translations(name):
    """Of each source word, the target words that are aligned to it alone, with their counts."""
    counts = collections.defaultdict(collections.Counter)
    scored = tool("tx-decode", "-q", "-m", MODEL, "--tgt", path(name, "de"), "--alignments",
                  "words", stdin=path(name, "en"))
    for source, target, line in zip(lines(path(name, "en")), lines(path(name, "de")), scored):
        source, target = source.split(), target.split()
        aligned = collections.defaultdict(list)
        for link in line.split("\t")[-1].split():
            aligned[int(link.split("-")[0])].append(int(link.split("-")[1]))
        for i, places in aligned.items():
            if len(places) == 1:
                counts[source[i]][target[places[0]]] += 1
    return counts


def glossaries():
    seen = collections.Counter(w for line in lines(path("train", "en")) for w in line.split())
    out = {"forms": {}, "first": {}, "rare": {}}
    for word, counts in translations("train").items():
        frequent = [t for t, n in counts.most_common() if n >= 0.05 * counts.total() and len(t) > 3]
        if seen[word] < 10 or len(word) < 4 or not word.isalpha() or not frequent:
            continue
        if counts[frequent[0]] >= 0.3 * counts.total():
            out["forms"][word] = frequent
            out["first"][word] = frequent[:1]
    for word, counts in translations(TEST).items():
        known = [t for t, _ in counts.most_common() if len(t) > 3]
        if seen[word] <= 30 and len(word) > 3 and word.isalpha() and known:
            out["rare"][word] = known
    return out


def words(text):
    return " " + re.sub(r"[^\w]", " ", text) + " "


def report(name, how, glossary, folder, *options):
    begin = time.time()
    output = tool("tx-decode", "-q", "-m", MODEL, *options, stdin=path(TEST, "en"))
    seconds = time.time() - begin
    hypotheses = f"{folder}/hypotheses"
    open(hypotheses, "w", encoding="utf-8").write("\n".join(output) + "\n")
    bleu = tool("tx-bleu", "--tokenize", "none", "--score-only", path(TEST, "de"),
                stdin=hypotheses)[0]
    terms = found = 0
    for source, target in zip(lines(path(TEST, "en")), output):
        for word in set(words(source).split()) & glossary.keys():
            terms += 1
            found += any(words(form) in words(target) for form in glossary[word])
    print(f"{name}\t{how}\t{terms}\t{100 * found / terms:.1f}\t{bleu}\t{seconds:.1f}", flush=True)


def main():
    print("glossary\thow\tterms\thonoured, %\tBLEU\tseconds")
    with tempfile.TemporaryDirectory() as folder:
        for name, glossary in glossaries().items():
            file, phrases = f"{folder}/terms", f"{folder}/phrases"
            with open(file, "w", encoding="utf-8") as out:
                out.writelines(f"{w}\t{'|'.join(forms)}\n" for w, forms in sorted(glossary.items()))
            with open(phrases, "w", encoding="utf-8") as out:
                for line in lines(path(TEST, "en")):
                    found = [glossary[w][0] for w in line.split() if w in glossary]
                    out.write("\t".join(dict.fromkeys(found)) + "\n")
            report(name, "without", glossary, folder)
            report(name, "--glossary", glossary, folder, "--glossary", file)
            report(name, "--constraints-file", glossary, folder, "--constraints-file", phrases)


if __name__ == "__main__":
    assert os.path.isdir(DATA), __doc__
    main()
