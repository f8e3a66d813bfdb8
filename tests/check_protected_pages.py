# SPDX-License-Identifier: Apache-2.0
"""Checks that programs and libraries can be loaded: check_protected_pages.py BUILD.

The loader write-protects the pages of the segment GNU_RELRO and refuses a program in which one of them belongs to no
segment LOAD. Whether a linker's mistake shows depends on the sizes of sections, so even on the length of a folder's name.
"""
import pathlib
import subprocess
import sys

PAGE = 4096


def segments(file, name):
    """The segments of this name: address and size in memory, in bytes."""
    listing = subprocess.run(["readelf", "-lW", file], check=True, capture_output=True, text=True).stdout
    words = [line.split() for line in listing.splitlines()]
    return [(int(line[2], 16), int(line[5], 16)) for line in words if line[:1] == [name]]


def is_protectable(file):
    loaded = [(begin // PAGE, -(-(begin + size) // PAGE)) for begin, size in segments(file, "LOAD")]
    pages = {page for begin, end in loaded for page in range(begin, end)}
    # The loader rounds both ends down.
    return all(pages.issuperset(range(begin // PAGE, (begin + size) // PAGE)) for begin, size in segments(file, "GNU_RELRO"))


build = pathlib.Path(sys.argv[1])
files = [file for folder in ("bin", "lib") for file in sorted((build / folder).iterdir()) if file.is_file() and not file.is_symlink()]
files = [file for file in files if file.read_bytes()[:4] == b"\x7fELF"]
if not files:
    sys.exit(f"no program in {build}")
broken = [str(file) for file in files if not is_protectable(file)]
if broken:
    sys.exit("cannot be loaded, for a protected page is missing:\n" + "\n".join(broken))
print(f"{len(files)} programs and libraries")
