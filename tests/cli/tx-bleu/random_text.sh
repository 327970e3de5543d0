# label: peer
# Random text through tx-bleu and sacreBLEU 2.6, if a Python (TX_PYTHON, else python3) has it.
python=${TX_PYTHON:-python3}
"$python" -c 'import sacrebleu, sentencepiece; assert sacrebleu.__version__.startswith("2.6")' \
  2> /dev/null || skip "no sacreBLEU 2.6 for $python; name another Python in TX_PYTHON"
expect_status 0 env PYTHONDONTWRITEBYTECODE=1 "$python" "$TX_SOURCE/tests/golden/random_scores.py" \
  "$TX_BUILD/bin/tx-bleu" "${TX_SEED:-$(date +%j)}" 20
expect_stdout_contains '58 settings x 20 segments agree'
