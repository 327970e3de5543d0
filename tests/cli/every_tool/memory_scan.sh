# label: slow
# Failed allocations at every limit of ulimit -v: the status is 0, 1 or 2, and an error is one
# line about memory. Limits from 30,000 to 400,000 KiB in steps of TX_SCAN_STEP (16,000), until four
# in a row are enough; run TX_SCAN_STEP=400 by hand.
[ "$TX_SANITIZE" != ON ] || exit 0 # needs the whole address space
. "$TX_SOURCE/tests/cli/train.sh"
small_text
for precision in fp32 auto; do
  small_train --steps 3 --precision $precision -o $precision 2> /dev/null
done
tx-avg --to int8 -o int8 fp32 2> /dev/null
tx-bpe encode -m bpe.model train.en > pieces
sed "s/.*/0-0/" train.en > links
head -n 3 valid.en > few.en
head -n 3 valid.de > few.de

starts=0 failures=0 bad=0
# scan COMMAND...: runs it at each limit and removes its output in between.
scan() {
  limit=${TX_SCAN_FROM:-30000} enough=0
  while [ "$limit" -le "${TX_SCAN_TO:-400000}" ] && [ $enough -lt 4 ]; do
    rm -rf out
    status=0
    (
      ulimit -v "$limit"
      exec timeout 60 "$@"
    ) > "$TX_LAST/stdout" 2> "$TX_LAST/stderr" || status=$?
    starts=$((starts + 1))
    enough=$((enough + 1))
    [ $status -eq 0 ] || check_failure "$@"
    limit=$((limit + ${TX_SCAN_STEP:-16000}))
  done
}
# check_failure COMMAND...: checks `status` and the message at `limit`.
check_failure() {
  failures=$((failures + 1)) enough=0
# libgomp prints an empty line before its message and ends the process itself.
  lines=$(grep -v ': warning: ' "$TX_LAST/stderr" | grep -c . || true)
  if [ $status -le 2 ] && [ "$lines" -eq 1 ] && grep -Eqi 'memory|failed to map segment' "$TX_LAST/stderr"; then
    return
  fi
  bad=$((bad + 1))
  echo "ulimit -v $limit: status $status: $*" >&2
  head -c 1000 "$TX_LAST/stderr" >&2
}

scan tx-bpe train --vocab-size 300 --threads 2 -o out train.en train.de
scan tx-bpe encode -m bpe.model --threads 2 train.en
scan tx-bpe decode -m bpe.model pieces
scan tx-bpe shortlist -m bpe.model --src train.en --tgt train.de --links links -o out
scan tx-bleu --metric bleu --metric chrf --metric ter --confidence --threads 2 valid.de -i valid.en
scan tx-avg -q -o out fp32
scan tx-convert -q --to marian -o out fp32
scan tx-attn-dump -m fp32 --threads 2 few.en
for precision in fp32 auto int8; do
  scan tx-decode -q -m fp32 --precision $precision --threads 2 valid.en
done
scan tx-decode -q -m int8 --threads 2 few.en
scan tx-train --describe --preset base --vocab bpe.model
scan tx-train --report fp32 -o out
for precision in fp32 auto; do
  # shellcheck disable=SC2046  # a list of words
  scan $(runner=echo small_train -q --steps 2 --threads 2 --precision $precision -o out)
done
echo "$starts starts, $failures failures"
[ $bad -eq 0 ] || fail "$bad of $starts starts"
