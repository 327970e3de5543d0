printf 'tx-words 1\n<pad>\n<unk>\n<s>\n</s>\none\ntwo\nthree\nein\nzwei\ndrei\n' > words.list
mkdir run
make_model run/best.safetensors vocabulary words.list
printf 'one two\nthree\n' > train.en
printf 'ein zwei\ndrei\n' > train.de
printf 'two three\n' > test.en
