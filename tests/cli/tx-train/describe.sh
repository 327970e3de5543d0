# --describe: the data flow; --tsv: the schedule and the positional encoding as tables.

# The parameters of the diagram, those of a layer times the layers, are the total of the list.
for options in '--preset base' '--preset modern' '--kind decoder --preset toy' \
  '--kind encoder --preset toy --positions learned'; do
  # shellcheck disable=SC2086  # several words
  expect_status 0 tx-train --describe --device cpu $options
  last_stdout | awk '
    /^parameters$/ { listed = 1 }
    listed && $1 == "total" && NF == 2 && !total { total = $2 }
    listed { next }
    NF == 0 || /after the last layer/ { times = 1 }
    / layers of / { times = $1; next }
    times && /   [0-9,]+$/ { n = $NF; gsub(",", "", n); sum += times * n }
    END { if (!sum || sum != total) { print sum " instead of " total; exit 1 } }' ||
    fail "$options: the parameters of the data flow"
done

# Equation 3, for any width, warm-up and factor.
expect_status 0 tx-train --describe --tsv schedule --d-model 64 --heads 4 --warmup 30 \
  --lr-factor 2 --steps 200
expect_stdout_lines 201
last_stdout | awk '
  NR == 1 { if ($0 != "step\tlearning_rate") exit failed = 1; next }
  { s = $1 ^ -0.5; w = $1 * 30 ^ -1.5; rate = 2 * 64 ^ -0.5 * (s < w ? s : w)
    if ($1 != NR - 1 || $2 / rate - 1 > 1e-8 || 1 - $2 / rate > 1e-8) { print; exit failed = 1 } }
  END { exit failed }' || fail 'the learning rates are not those of equation 3'
expect_status 0 tx-train --describe --tsv schedule --preset toy
expect_stdout_lines 961
last_stdout | awk -F '\t' '$1 == 100 && $2 == 0.003 { peak = 1 } $1 == 960 && $2 == 0 { end = 1 }
  END { exit !(peak && end) }' || fail 'the linear schedule of toy'

# Positions by the formula of section 3.5; the base model has d_model 512.
tx-train -q --describe --tsv positions --max-length 60 > positions.tsv
[ "$(wc -l < positions.tsv)" -eq 62 ] || fail 'not a row for each position'
awk -F '\t' '
  NR == 1 { if (NF != 513 || $1 != "position" || $513 != 511) exit failed = 1; next }
  { if ($1 != NR - 2) exit failed = 1
    for (i = 0; i < 256; ++i) {
      angle = $1 / 10000 ^ (2 * i / 512)
      off = sin(angle) - $(2 * i + 2); other = cos(angle) - $(2 * i + 3)
      if (off * off > 1e-16 || other * other > 1e-16) { print $1, i; exit failed = 1 } } }
  END { exit failed }' positions.tsv || fail 'positions are not those of section 3.5'

# Their cosines, from that table.
tx-train -q --describe --tsv similarity --max-length 60 > similarity.tsv
awk -F '\t' '
  FNR == 1 { ++file; next }
  file == 1 { for (i = 2; i <= NF; ++i) pe[$1, i] = $i; next }
  { if (NF != 62) exit failed = 1
    for (j = 0; j < 61; j += 7) {
      sum = 0
      for (i = 2; i <= 513; ++i) sum += pe[$1, i] * pe[j, i]
      off = sum / 256 - $(j + 2)
      if (off * off > 1e-14) { print $1, j, off; exit failed = 1 } } }
  END { exit failed || FNR != 62 }' positions.tsv similarity.tsv || fail 'cosines of positions'

# PE(pos + k) = R(k) PE(pos), with wavelengths from 2 pi on, to 10000 times 2 pi in layout fairseq.
for layout in sinusoid halves fairseq; do
  expect_status 0 tx-train -q --describe --tsv rotation --positions $layout --max-length 60
  expect_stdout_lines 257
  last_stdout | awk -F '\t' -v layout=$layout '
    NR == 1 { next }
    { i = NR - 2
      first = layout == "sinusoid" ? 2 * i : i; second = layout == "sinusoid" ? 2 * i + 1 : 256 + i
      wave = 2 * atan2(0, -1) * 10000 ^ (layout == "fairseq" ? i / 255 : i / 256)
      if ($1 != first || $2 != second || $3 / wave - 1 > 1e-8 || 1 - $3 / wave > 1e-8 ||
        $4 < 0 || $4 > 1e-13) { print; exit failed = 1 } }
    END { exit failed }' || fail "rotation of layout $layout"
done

# A model in a file has its own width and positions.
make_model model kind decoder positions rotary layers 1
each_row expect_usage_error tx-train <<'END'
-q --describe --tsv positions --init model => --tsv positions is for sinusoids, but the model has --positions rotary: give
--tsv schedule => --tsv needs --describe: add it
--describe --tsv schedule --html page.html => --tsv cannot be used with --html
--describe --tsv weights => --tsv weights: must be one of schedule, positions, similarity
END

# The memory of translations is planned, without weights; a run in progress is described, too.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
for metric in bleu chrf bleu,loss; do
  expect_status 0 small_train --describe --valid-metric $metric
  last_stdout | grep -Eq '^  translations +[1-9]' || fail "$metric: $(last_stdout)"
done
expect_status 0 tx-train --describe --preset toy --valid-metric bleu --valid-src valid.en --valid-tgt valid.de
expect_stderr_contains 'without a vocabulary the memory for --valid-metric bleu is not known'
expect_status 0 small_train --valid-metric bleu --steps 3 -o run
exec 3< run/lock
flock 3
expect_status 1 tx-train --resume run --steps 6
expect_stderr_contains 'in use by another tx-train'
expect_status 0 tx-train --describe --resume run
expect_stdout_contains translations
exec 3<&-
