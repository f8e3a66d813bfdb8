#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: from_sources.sh PYTHON FOLDER BUILD
# Makes the Python package from the sources, by `pip install .` in a copy of what git knows, for the PyTorch of PYTHON,
# into FOLDER; and tests what was installed with the libraries of BUILD beside it. It compiles the operators: minutes.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$here/../../..
python=$(realpath -s -- "$1") build=$(realpath -- "$3")
mkdir -p -- "$2"
folder=$(realpath -- "$2")
rm -rf -- "${folder:?}"/*
mkdir -p -- "$folder/sources" "$folder/installed"
git -C "$root" ls-files -z | tar -C "$root" --null -T - -cf - | tar -C "$folder/sources" -xf -

"$python" -I -m pip install --no-input --no-deps --no-build-isolation --no-index --target "$folder/installed" "$folder/sources"
library=$folder/installed/geosft/libgeosft_ops.so
if cmp -s "$library" "$build/lib/libgeosft_ops.so"; then echo "from_sources: the library was not compiled anew" && exit 1; fi
if readelf -d "$library" | grep -E 'R(UN)?PATH' | grep -vF "[\$ORIGIN/../torch/lib]"; then
  echo "from_sources: the library names a folder of this machine" && exit 1
fi
cd -- "$folder"
PYTHONPATH=$folder/installed "$python" "$here/test_geosft.py" "$folder/installed" \
  "$build/lib/libgeosft_ops.so" "$build/lib/libgeosft_ops_of_another_version.so"
