# label: browser
# Every control of the page of --live, in headless Chromium.
. "$TX_SOURCE/tests/cli/train.sh"
command -v python3 > /dev/null || skip "no python3 here"
small_text
small_train --layers 2 --steps 120 --save-every 120 -o model 2> run.log || fail "$(cat run.log)"
small_train --layers 2 --steps 400 --save-every 400 --no-causal-mask -o unmasked 2> run.log ||
  fail "$(cat run.log)"
small_train --steps 40 --save-every 40 -o second 2> run.log || fail "$(cat run.log)"
script="<script>document.title='taken'</script>"
printf '%s\n' 'tx-words 1' '<pad>' '<unk>' '<s>' '</s>' w4 w5 w6 w7 w8 w9 w10 w11 w12 w13 "$script" > words
make_model decoder kind decoder vocabulary words layers 1 heads 2 d_k 4 d_v 16 d_ff 8
make_model encoder kind encoder layers 1 heads 2
head -n 3 valid.en > in
echo 'six seven' >> in
tx-attn-dump -m model -m second --html page.html --live in
tx-attn-dump -m model --html alone.html --live in
tx-attn-dump -m unmasked --html unmasked.html --live in
printf '%s\n' 'w5 w6' "w5 $script" | tx-attn-dump -m decoder --html decoder.html --live -
echo 'w5 <mask> w7 <mask>' | tx-attn-dump -m encoder --html encoder.html --live -
sed 's|\(<script type="text/plain" id="weights-0">\)[^<]*|\1AAAA|' alone.html > damaged.html
python3 "$TX_SOURCE/tests/browser/live_test.py" page.html alone.html decoder.html encoder.html \
  unmasked.html damaged.html
