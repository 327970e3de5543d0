# label: browser
# The pages of --report and --describe, in headless Chromium.
command -v python3 > /dev/null || skip "no python3 here"

# a_run DIRECTORY STEPS SEED: writes the files of a run of STEPS steps.
a_run() {
  mkdir -p "$1"
  printf '{"command":"tx-train","options":{"steps":20,"seed":%d}}\n' "$3" > "$1/config.json"
  awk -v steps="$2" 'BEGIN {
    print "{\"step\":0,\"checkpoint\":\"model-0.safetensors\",\"seconds\":0.5}"
    for (i = 1; i <= steps; ++i) {
      printf "{\"step\":%d,\"epoch\":1,\"loss\":%g,\"perplexity\":%g,\"learning_rate\":%g,", i,
        6 / i + i % 2, exp(6 / i), i / 1000
      printf "\"gradient_norm\":%g,\"tokens_per_second\":%d,\"tokens\":%d,\"skipped\":%d,", 3 / i,
        1000 + 10 * i, i * i * 40, (i > 12)
      if (steps == 20)
        printf "\"gradient_norms\":{\"embedding\":1,\"encoder.layers.0\":%g," \
          "\"encoder.layers.1\":%g,\"decoder.layers.0\":2},", 1 / i, 2 / i
      printf "\"seconds\":%g}\n", i + exp(i / 20)
      if (i % 20 == 0) {
        if (steps == 20) {
          printf "{\"step\":%d,\"validation_loss\":2,\"validation_perplexity\":5,", i
          printf "\"validation_accuracy\":1,\"seconds\":%g}\n", i + exp(i / 20)
        }
        printf "{\"step\":%d,\"checkpoint\":\"model-%d.safetensors\",\"seconds\":%g}\n", i, i,
          i + exp(i / 20)
      }
      if (i == 12 && steps == 20)
        print "{\"step\":12,\"incident\":\"not finite\",\"at_step\":12,\"action\":\"skipped\"," \
          "\"incident_loss\":null,\"loss_limit\":0,\"gradient_norm\":null,\"seconds\":14}"
    }
  }' > "$1/log.jsonl"
}
# Directory names cannot contain the slash of a closing tag.
mkdir -p '<b>one<'
a_run '<b>one</b>' 20 1
a_run two 40 2
tx-train --report '<b>one</b>' two -o report.html
mkdir three
cat > three/config.json << 'EOF'
{"options":{"schedule":"linear","warmup":10,"lr":0.01,"lr-factor":1.0,"steps":40,"d-model":64}}
EOF
awk 'BEGIN {
  for (i = 20; i <= 40; i += 20) {
    printf "{\"step\":%d,\"loss\":%d,\"learning_rate\":%.9g,", i, i, 0.01 * (40 - i) / 30
    printf "\"tokens\":%d,\"skipped\":0,\"seconds\":%d}\n", i, i
  }
}' > three/log.jsonl
tx-train --report three -o three.html
python3 "$TX_SOURCE/tests/browser/report_test.py" report.html three.html
tx-train --describe --html describe.html --preset toy --schedule paper --warmup 1000 --steps 5000
python3 "$TX_SOURCE/tests/browser/describe_test.py" describe.html
