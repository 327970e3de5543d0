# label: peer
# examples/documents: the filters translate text and keep everything else byte for byte. In the documents
# below « begins each translation: without « they are the input, and COMMAND writes it before each line.
python3 -c 'import sys; assert sys.version_info >= (3, 8)' 2> /dev/null || skip 'no Python 3.8'
export PYTHONDONTWRITEBYTECODE=1

# filter DOCUMENT COMMAND...
filter() {
  case $1 in
    *.po) set -- po "$@" ;;
    *.srt | *.vtt) set -- srt "$@" ;;
    *.html) set -- html_page "$@" ;;
    *.md) set -- markdown "$@" ;;
    *.tmx) input=$1; shift; set -- tmx "$input" de "$@" ;;
    *) set -- text "$@" ;;
  esac
  program=$TX_SOURCE/examples/documents/$1.py
  shift
  python3 "$program" "$@"
}

# source DOCUMENT: what to translate; the messages and segments that po.py and tmx.py fill are empty.
source() {
  case $1 in
    *.po) sed -e 's/"«.*"/""/' -e '/^#: long/,/^$/{/^msgstr/,/^$/{/^"/d' -e '}}' "$1" ;;
    *.tmx) sed -e '/<tuv xml:lang="de"><seg>«/d' -e 's|<seg>«.*|<seg></seg></tuv></tu>|' "$1" ;;
    *) sed -e 's/«//g' -e 's/é/\&eacute;/' "$1" ;;
  esac
}

awk '/^== / { name = $2; next } { print > name }' << 'END'
== plain.po
# Translators: nobody
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=3; plural=n==1 ? 0 : n==2 ? 1 : 2;\n"

#: a.c:1
#, c-format, no-wrap
msgid "Hello %s, \"you\"\tand\\n"
msgstr "«Hello %s, \"you\"\tand\\n"

msgctxt "menu"
msgid "Open"
msgstr "«Open"

#, fuzzy
msgid "Kept"
msgstr "Behalten"

#, fuzzy
#| msgid "Old"
msgid "New"
msgstr "«New"

msgid "%d: 100 %"
msgstr ""

#~ msgid "Obsolete"
#~ msgstr ""
== plural.po
msgid "a file"
msgid_plural "%d files"
msgstr[0] "«a file"
msgstr[1] "«%d files"
msgstr[2] "«%d files"

#, c-format
msgid "%d bit"
msgid_plural "%d bits"
msgstr[0] "ein Bit"
msgstr[1] "«%d bits"
== long.po
#: long.c
msgid ""
"\n"
"Usage: %s\n"
"\n"
"  -v  print more \033[1mand \a"
"more\n"
msgstr ""
"\n"
"«Usage: %s\n"
"\n"
"  «-v  print more \033[1mand \amore\n"

msgid   "No space\n" 
msgstr   "«No space\n"
== header.po
msgid ""
msgstr ""
"Project-Id-Version: x\n"
== film.srt
1
00:00:01,000 --> 00:00:02,500
«Where is <i>my "red" hat</i>?

2
00:00:03,000 --> 00:00:04,000

3
00:00:05,000 --> 00:00:06,000 X1:5 X2:9
{\an8}<i>«I saw it</i>
4
00:00:07,000 --> 00:00:08,000
- «Really?
- «No & <b>yes</b>

5
00:00:09,000 --> 00:00:10,000
♪ 12

6
00:00:11,000 --> 00:00:12,000
«one two three four five
six seven eight nine ten
== odd.srt
00:00:01,000 --> 00:00:02,500
«No number

no time --> here
kept
== film.vtt
WEBVTT - A title
Kind: captions

NOTE
A comment
of two lines

STYLE
::cue { color: red }

intro
00:01.000 --> 00:02.000 align:start position:10%
<v O'Brien>«Café <c.loud>R&amp;D</c></v>

01:00:01.000 --> 01:00:02.000
«Up <01:00:01.500>and away
== page.html
<!DOCTYPE html>
<html><head><title>«A page</title><meta name="x" content="kept"><style>p > a { color: red }</style>
<script>if (a < b) document.write("<p>kept</p>");</script></head>
<body class="a>b"><!-- kept <p>text</p> -->
<h1 title="1 > 0">«Head<em>line</em></h1><p>«One<br>two &amp; thré, 1 &lt; 2</p>
<ul><li><a href="/kept?a=1&b=2">«Home</a><li>«<b>Bold</b> and <b>bold</b></ul>
<p> <img src="x.png" alt="kept"> «Picture </p><pre>kept <b>x</b></pre><p><code>kept()</code></p>
<div><div><span class="x"><i>«Deep</i></span></div>«loose</div>&nbsp;<td>12&euro;</td>
== broken.html
«<p class="open>no <b>end
== wrapped.html
<p>«A paragraph
   that is wrapped.</p>
<svg><text>kept</text></svg><textarea>kept</textarea><!-- never ends <p>kept
== page.md
---
title: kept
---
# «Title

«Some **bold** words with `kept code`, a [link](http://kept.org/a_b "kept") and an
![image](kept.png) more, see https://kept.org/x. Also [this][ref] and [that][].

> «Quoted text of some
> words on two lines

- «one
- [ ] «two, which
  goes on and on
  1. [«three](kept)
    - «four

      «paragraph

```sh
# kept
```

| «Name | «Size |
|------|-----:|
| «a `x` | 10 |
| **«bold** | «b \| c |

[ref]: http://kept.org "kept"

«Setext
======
«Hard break  
«second
***

    kept code
    # kept
== html.md
<!-- kept
text -->
<div align="center">
  <a href="kept">«Text</a>
</div>

«Text <kbd>Ctrl</kbd> &amp; [^1]

~~~
kept
~~~
[^1]: «The note.
1. ```
   kept
   ```
== open.md
«Text
```
kept to the end
== memory.tmx
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en-US" datatype="html"/><body>
<tu tuid="1">
  <tuv xml:lang="en-US"><seg>Hello &amp; <hi>bye</hi></seg></tuv>
  <tuv xml:lang="de"><seg>«Hello &amp; <hi>bye</hi></seg></tuv>
  <tuv xml:lang="fr"><seg>Bonjour</seg></tuv>
</tu>
<tu><note>x</note><tuv lang='EN-us'><seg>A <ph x="1">&lt;br&gt;</ph> b</seg></tuv><tuv xml:lang="de-AT"><seg>«A <ph x="1">&lt;br&gt;</ph> b</seg></tuv></tu>
<tu><tuv xml:lang="de"><seg>Da</seg></tuv><tuv xml:lang="en-US"><seg>Here</seg></tuv></tu>
<!-- <tu><tuv xml:lang="en-US"><seg>comment</seg></tuv></tu> -->
<tu srclang="*all*">
  <tuv xml:lang="it"><seg><![CDATA[a < b]]></seg></tuv>
  <tuv xml:lang="de"><seg>«a &lt; b</seg></tuv>
</tu>
<tu><tuv xml:lang="en-US"><seg>42</seg></tuv></tu>
</body></tmx>
== lines.txt
«First sentence.
  «Indented, with a <tag> & more  

«Second paragraph. 
***
END
: > empty.txt
: > empty.po
: > empty.html

for document in *.*; do
  source "$document" > "source.$document"
  expect_status 0 filter "source.$document" sed 's/^/«/'
  expect_stdout_file "$document"
done
