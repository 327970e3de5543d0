# label: browser
# Every control of the page, in headless Chromium.
command -v python3 > /dev/null || skip "no python3 here"
script="<script>document.title='taken'</script>"
printf '%s\n' 'tx-words 1' '<pad>' '<unk>' '<s>' '</s>' w4 w5@@ w6 w7 w8 w9 "$script" > words
make_model model vocabulary words
printf 'w4 w5@@ w6 w7\n\nw8  %s w9\n' "$script" > in
printf 'w7 w6 w4\n\nw9 w8 w4\n' > target
tx-attn-dump -m model --html page.html --tgt target in
awk 'BEGIN { printf "w9 w4 w6"; for (i = 3; i < 70; ++i) printf " w8"; print "" }' > long
for kind in decoder encoder; do
  make_model $kind kind $kind positions alibi vocabulary words
  tx-attn-dump -m $kind --html $kind.html long
done
python3 "$TX_SOURCE/tests/browser/attention_test.py" page.html decoder.html encoder.html
