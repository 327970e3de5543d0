# `make deb` packs what `make install` installs, with its dependencies.
[ -e /etc/debian_version ] || { echo "not a Debian system" && exit 0; }
command -v file > /dev/null || { echo "skipped: packing needs file(1)" >&2 && exit 77; }
(cd "$TX_BUILD" && expect_status 0 cpack -G DEB -B "$OLDPWD/packed")
package=$(find packed -maxdepth 1 -name 'tx_*.deb')
[ -n "$package" ] || fail "cpack wrote no tx_*.deb"
dpkg-deb --fsys-tarfile "$package" | tar -t > contents
for tool in $(tools); do
  for path in "bin/$tool" "share/man/man1/$tool.1" "share/bash-completion/completions/$tool"; do
    grep -qx "./usr/$path" contents || fail "the package lacks /usr/$path"
  done
done
for path in 'lib/.*libtx.so.0' 'lib/.*pkgconfig/tx.pc' 'include/tx/tx.h' 'share/man/man7/tx.7'; do
  grep -qx "./usr/$path" contents || fail "the package lacks /usr/$path"
done
if [ -e "$TX_BUILD/share/tx/demo.safetensors" ]; then # the model of `make demo`
  grep -qx ./usr/share/tx/demo.safetensors contents || fail "the package lacks the model demo"
fi
dpkg-deb --field "$package" Depends > depends
for library in libopenblas libsentencepiece libc6; do
  grep -q "$library" depends || fail "the package does not depend on $library: $(cat depends)"
done
