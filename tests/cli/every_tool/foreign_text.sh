# Text compressed by another program than gzip, in UTF-16 or in SGML is an error that names the
# command to convert it, and the command works; a byte order mark is dropped with a warning.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
tx-bpe encode -m bpe.model train.en > wanted
refused_in() { # NAME WHAT COMMAND: checks the error and runs its advice
  if command -v "${3%% *}" > found; then
    expect_status 1 tx-bpe encode -m bpe.model "$1"
    expect_empty_stdout
    expect_stderr "tx-bpe: $1 $2: write its text to a file ($3 $1 > TEXT) or pipe it in ($3 $1 | ...)"
    $3 "$1" | tx-bpe encode -m bpe.model > piped
    expect_same piped wanted
    expect_status 1 tx-bpe encode -m bpe.model < "$1"
    expect_stderr "tx-bpe: standard input $2: send it through $3 first"
  fi
}
if command -v xz > found; then xz -k train.en; fi
refused_in train.en.xz 'is compressed with xz' 'xz -dc'
if command -v zstd > found; then zstd -q train.en; fi
refused_in train.en.zst 'is compressed with zstd' 'zstd -dc'
if command -v bzip2 > found; then bzip2 -k train.en; fi
refused_in train.en.bz2 'is compressed with bzip2' 'bzip2 -dc'
if command -v iconv > found; then iconv -f UTF-8 -t UTF-16 train.en > utf16; fi
refused_in utf16 'is text in UTF-16' 'iconv -f UTF-16 -t UTF-8'
printf '\377\376a\000\n\000' > short
expect_status 1 tx-bleu short < train.en
expect_stderr_contains 'tx-bleu: short is text in UTF-16'
expect_status 1 tx-train --src train.en --tgt short --vocab bpe.model --steps 1 -o none
expect_stderr_contains 'tx-train: short is text in UTF-16'

# The test sets of WMT.
{
  printf '<refset setid="newstest" srclang="any" trglang="en">\n<doc docid="1">\n<p>\n'
  sed 's/.*/<seg id="1"> & <\/seg>/' train.en
  printf '</p>\n</doc>\n</refset>\n'
} > train.sgm
command="awk -v RS='</[sS][eE][gG]>' 'sub(/.*<[sS][eE][gG][^>]*>/, \"\") {\$1 = \$1; print}'"
expect_status 1 tx-bleu train.sgm < train.en
expect_stderr "tx-bleu: train.sgm is a test set in SGML: write its text to a file: $command train.sgm > TEXT"
eval "$command train.sgm" > text
expect_same text train.en
expect_status 1 tx-train --src train.en --tgt train.sgm --vocab bpe.model --steps 1 -o none
expect_stderr_contains 'tx-train: train.sgm is a test set in SGML'
grep '<seg' train.sgm > segments
expect_status 1 tx-bpe encode -m bpe.model < segments
expect_stderr_contains 'tx-bpe: standard input is a test set in SGML: send it through awk -v '
echo '<segment' | expect_status 0 tx-bpe encode -m bpe.model

# The command in the message makes train.en of the file.
refused_set() { # FILE WHAT [IN]
  expect_status 1 tx-bleu "$1" < train.en
  expect_stderr_contains "tx-bleu: $1 is $2"
  command=$(sed 's/.*write its text to a file: \(awk .*\) > TEXT$/\1/' "$TX_LAST/stderr")
  eval "$(echo "$command" | sed "s/IN=src/IN=${3:-src}/")" > text
  expect_same text train.en
}
sed 's/<seg id="1">/<SEG ID=1>/; s/refset/REFSET/; s/doc/DOC/; s/<.seg>/<\/SEG>/' train.sgm > upper.sgm
refused_set upper.sgm 'a test set in SGML'
sed '1d; s/ <.seg>/\n&<p>/' train.sgm > documents.sgm
refused_set documents.sgm 'a test set in SGML'
{ echo '<?xml version="1.0" encoding="UTF-8"?>'; echo '<!DOCTYPE mteval SYSTEM "x.dtd">'
  echo '<mteval>'; sed 's/&/\&amp;/g' train.sgm; echo '</mteval>'; } > mteval.xml
refused_set mteval.xml 'a test set in XML'
sed 1d mteval.xml > doctype.xml
refused_set doctype.xml 'a test set in XML'
{ sed -n 3p mteval.xml; sed '1,3d' mteval.xml; } > bare.xml
refused_set bare.xml 'a test set in XML'
{
  printf '<?xml version="1.0"?>\n<dataset id="newstest2021">\n<doc id="1">\n<src lang="en">\n'
  sed 's/</\&lt;/g; s/.*/<p>\n<seg id="1">&<\/seg>\n<\/p>/' train.en
  for translator in A B; do
    printf '</src>\n<ref lang="de" translator="%s">\n' $translator
    sed "s/^/$translator/; s/.*/<seg id=\"1\">&<\/seg>/; s/>A/>/" train.en
    printf '</ref>\n'
  done
  printf '</doc>\n</dataset>\n'
} > wmt.xml
refused_set wmt.xml 'XML with <seg> elements'
refused_set wmt.xml 'XML with <seg> elements' "'ref.*translator=\"A\"'"
expect_status 1 sh -c 'cat wmt.xml | tx-bpe encode -m bpe.model'
expect_stderr_contains 'tx-bpe: standard input is XML with <seg> elements'

# Files that are no text.
printf 'PK\003\004\024\000' > text.zip
for file in bpe.model text.zip; do
  for command in 'tx-bpe encode -m bpe.model' 'tx-bpe encode --codes' 'tx-bleu train.en -i'; do
    expect_status 1 $command $file
    expect_stderr_contains "$file is a "
  done
done

{ printf '\357\273\277'; cat train.en; } > marked
expect_status 0 tx-bpe encode -m bpe.model marked
expect_stdout_file wanted
expect_stderr 'tx-bpe: warning: marked:1: begins with a byte order mark, which is ignored'
expect_status 0 tx-bleu --score-only marked < train.en
expect_stdout 100.0
expect_stderr_contains 'tx-bleu: warning: marked begins with a byte order mark, which is ignored'
