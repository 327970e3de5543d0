# BERT and RoBERTa directories, as sentence-transformers saves them: vectors and filled masks equal
# those of the package transformers (tests/golden/make_bert.py).
within() { # OURS THEIRS: numbers differ by at most 2e-5, other fields not at all
  paste -d '\n' "$1" "$2" | tr '\t' ' ' | awk '
    NR % 2 { n = split($0, a, " "); next }
    { if (split($0, b, " ") != n || n == 0) bad = 1
      for (i = 1; i <= n; i++) {
        d = a[i] - b[i]
        if (a[i] ~ /^[-0-9.e]+$/ ? d > 2e-5 || d < -2e-5 : a[i] != b[i]) bad = 1
      }
      if (bad) { print "line " NR / 2 ": " $0; exit } }
    END { exit bad || NR == 0 }' >&2 || fail "$1 differs from transformers"
}
for kind in bert roberta; do
  golden=$TX_SOURCE/tests/golden/$kind
  expect_status 0 tx-convert -o $kind.safetensors "$golden"
  pooling=mean name=BERT
  [ $kind = bert ] || pooling=first name=RoBERTa
  expect_stderr "tx-convert: wrote $kind.safetensors, converted from a $name model for vectors of sentences (--embed $pooling)"
  expect_status 0 tx-decode -m $kind.safetensors --precision fp32 --embed $pooling "$golden/lines"
  last_stdout > vectors
  within vectors "$golden/vectors"
  expect_status 0 tx-decode -m $kind.safetensors --precision fp32 --nbest 3 "$golden/masked"
  last_stdout | cut -f 2- > filled
  within filled "$golden/filled"
  # The attention of all tokens, the special ones included.
  echo 'ab <mask>' > one
  expect_status 0 tx-attn-dump -m $kind.safetensors one
  case $(last_stdout) in
    *'"source":["[CLS]","ab","[MASK]","[SEP]"]'* | *'"source":["<s>","ab","<mask>","</s>"]'*) ;;
    *) fail "tokens: $(last_stdout | cut -c 1-300)" ;;
  esac
  expect_status 2 tx-train --init $kind.safetensors --src "$golden/lines" --steps 1 -o run
  expect_stderr_contains 'its texts end with a special token'
done

# vocab.txt instead of tokenizer.json; older names of norms.
cp -r "$TX_SOURCE/tests/golden/bert" listed
tr ',{' '\n\n' < listed/tokenizer.json | sed -n 's/.*"\(.*\)": *\([0-9][0-9]*\)\(}.*\)*$/\2 \1/p' |
  grep -v '^[0-9]* \(id\|type_id\|max_\)' | sort -n -u | cut -d ' ' -f 2 > listed/vocab.txt
rm listed/tokenizer.json
printf '%s\n' --- 'language: en' 'license: mit' --- 'license: none' > listed/README.md
expect_status 0 tx-convert -o listed.safetensors listed
expect_stderr_contains '(--embed mean); its licence: mit'
expect_status 0 tx-decode -m listed.safetensors --describe
expect_stdout_contains 'license: mit'
expect_status 0 tx-decode -m listed.safetensors --precision fp32 --embed mean listed/lines
last_stdout > vectors
within vectors listed/vectors

golden=$TX_SOURCE/tests/golden/bert
. "$TX_SOURCE/tests/cli/broken_folder.sh"
broken <<'END'
edit config.json 's/"vocab_size": [0-9]*/"vocab_size": 9/' => but the embedding has 9 rows
edit config.json 's/"hidden_act": "gelu"/"hidden_act": "tanh"/' => hidden_act is "tanh", which is not supported
edit config.json 's/"num_hidden_layers": 2/"num_hidden_layers": 1/' => which belongs to a component that is not supported
edit config.json 's/"is_decoder": false/"is_decoder": true/' => is_decoder is true; only false is supported
edit modules.json 's/models.Normalize/models.Dense/' => the module "Dense" is not supported; Transformer, Pooling and Normalize are
edit 1_Pooling/config.json 's/mean_tokens/max_tokens/' => pooling_mode_max_tokens is not supported
edit tokenizer.json 's/"WordPiece"/"WordLevel"/' => WordLevel
rm f/tokenizer.json => f/vocab.txt
END
