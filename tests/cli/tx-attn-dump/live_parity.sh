# label: browser
# The page of --live computes what tx-decode --precision int8 and tx-bpe do: greedy outputs, log P
# and tokens, for models of several architectures.
command -v python3 > /dev/null || skip "no python3 here"
. "$TX_SOURCE/tests/cli/train.sh"
# same MODEL TEXT PRECISION [OPTION]...: compares the page of MODEL; options of tx-attn-dump.
same() {
  model=$1 text=$2 precision=$3
  shift 3
  tx-attn-dump -m "$model" --html page.html --live "$@"
  tx-decode -q -m "$model" --precision "$precision" --beam 1 --threads 1 --json < "$text" > decoded
  tx-bpe encode -m "$model" < "$text" > encoded
  python3 "$TX_SOURCE/tests/browser/live_parity_test.py" page.html "$text" decoded encoded ||
    fail "$model $*"
}

small_text
small_train --steps 60 --save-every 60 -o run 2> run.log || fail "$(cat run.log)"
head -n 30 valid.en > text
# Spaces, characters without a token, markup, digits of other scripts, emoji of several characters.
cat >> text << 'EOF'
  two   spaces  and a tab	here  
<b>bold</b> & "quotes" <unk> </s> <pad>
Größe, naïve, ﬁne, ½, ①, Ｆｕｌｌ, 日本語, ١٢٣, 👩‍👩‍👧 e\u0301
EOF
same run text int8
same run text fp32 --weights f16
