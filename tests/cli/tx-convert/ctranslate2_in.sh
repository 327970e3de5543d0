# A directory of CTranslate2 becomes a model again, with the same outputs.
. "$TX_SOURCE/tests/cli/small_run.sh"
write_text train 60
tx-bpe train --vocab-size 300 -o bpe.model train.src train.tgt 2> /dev/null
train_small run --vocab bpe.model
tx-convert -q --to ctranslate2 -o ct2 run
expect_status 0 tx-convert -o back.safetensors ct2
expect_stderr 'tx-convert: wrote back.safetensors, converted from a model of CTranslate2'
head -n 20 train.src > some
tx-decode -m run --precision fp32 --scores < some > wanted
expect_status 0 tx-decode -m back.safetensors --precision fp32 --scores some
expect_stdout_file wanted
tx-convert -q --to ctranslate2 -o again back.safetensors
for file in config.json sentencepiece.model shared_vocabulary.json; do expect_same ct2/$file again/$file; done

# vmap.txt becomes a shortlist; a phrase counts as its first token.
tx-bpe vocab -m bpe.model | cut -f 2 | tail -n 5 > five
{ read -r a && read -r b && read -r c && read -r d && read -r e; } < five
printf '\t%s </s>\n%s\t%s %s none\n%s %s\t%s\n' "$a" "$b" "$c" "$d" "$b" "$c" "$e" > ct2/vmap.txt
expect_status 0 tx-convert -q -o listed.safetensors ct2
printf '\t%s\t1\n\t</s>\t0.5\n%s\t%s\t1\n%s\t%s\t0.5\n%s\t%s\t0.333333\n' \
  "$a" "$b" "$c" "$b" "$d" "$b" "$e" > wanted_list
expect_same wanted_list listed.shortlist
echo none > ct2/vmap.txt
expect_status 1 tx-convert -q -o x ct2
expect_stderr_contains 'ct2/vmap.txt has a line without a tab'
rm ct2/vmap.txt

# As most models of others: a source is its tokens alone.
sed 's/"add_source_eos": true/"add_source_eos": false/' ct2/config.json > config && mv config ct2/config.json
expect_status 0 tx-convert -q -o open.safetensors ct2
expect_status 0 tx-decode -m open.safetensors --precision fp32 --scores some
! cmp -s wanted "$TX_LAST/stdout" || fail 'the end of the source has no effect'
expect_status 1 tx-decode -m back.safetensors -m open.safetensors some
expect_stderr_contains 'differ in <s> or </s> around a source (source_bos, source_eos): they cannot be joined'
expect_status 0 tx-attn-dump -m open.safetensors --precision fp32 some
last_stdout | head -n 1 | grep -o '"source":\[[^]]*\]' > source
! grep -q '</s>' source || fail "$(cat source)"
expect_status 1 tx-attn-dump -m open.safetensors --html page.html --live
expect_stderr_contains '--live: the texts of open.safetensors lack <s> or </s>, which the page adds'
expect_status 1 tx-train --init open.safetensors --src train.src --tgt train.tgt -o tuned
expect_stderr_contains '--init open.safetensors: its texts lack </s>, so tx cannot train it'
expect_status 1 tx-convert --to marian -o x open.safetensors
tx-convert -q --to ctranslate2 -o open_ct2 open.safetensors
grep -q '"add_source_eos": false' open_ct2/config.json || fail "$(cat open_ct2/config.json)"

rm ct2/shared_vocabulary.json
expect_status 1 tx-convert -o x ct2
expect_stderr_contains 'ct2/source_vocabulary.json or .txt is missing, and so is shared_vocabulary'
head -c 1000 ct2/model.bin > cut && mv cut ct2/model.bin
expect_status 1 tx-convert -o x ct2
expect_stderr_contains 'ct2/model.bin is damaged or not a model of CTranslate2: it is truncated'
expect_status 1 tx-convert -o x none.argosmodel
expect_stderr_contains 'none.argosmodel'
echo text > bad.argosmodel
expect_status 1 tx-convert -o x bad.argosmodel
expect_stderr_contains 'bad.argosmodel is damaged or not a supported zip archive'
expect_no_file x
