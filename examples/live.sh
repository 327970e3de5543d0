#!/bin/sh
# Writes an HTML page that contains the model that multi30k.sh trained, and runs it in the browser:
#   sh examples/live.sh [DIR [PAGE]]
# DIR (build/multi30k) is the directory of multi30k.sh, PAGE (DIR/live.html) the file to write. The
# texts of Multi30k are lowercased and tokenised; write sentences for the page in the same way.
set -eu
dir=${1:-build/multi30k} page=${2:-${1:-build/multi30k}/live.html}
if [ ! -e "$dir/model.safetensors" ]; then
  echo "live.sh: $dir has no model.safetensors; train it with examples/multi30k.sh" >&2
  exit 1
fi
tx-attn-dump -m "$dir/model.safetensors" --html "$page" --live - << 'EOF'
a man in a red shirt is riding his bike .
two dogs are playing in the snow .
a little girl in a pink dress is climbing the stairs of a playhouse .
the children are sitting at a table because they are hungry .
a woman who is wearing a blue hat sells fruit at the market .
EOF
echo "open $page in a browser"
