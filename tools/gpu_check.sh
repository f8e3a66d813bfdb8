#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/gpu_check.sh [--out NAME] [--python PYTHON] [--library FILE] [--no-sanitizer]
#        tools/gpu_check.sh --pack DIR
# Checks the operators on this machine's GPU against the CPU, runs compute-sanitizer over them and times them; writes
# NAME.json and NAME.md. Needs a GPU and a Python with PyTorch for it, and no network.
#
#   --out NAME        where the report goes (default: build/gpu_check)
#   --python PYTHON   a Python that imports torch with CUDA (default: .venv/bin/python, else python3)
#   --library FILE    libgeosft_ops.so (default: the one beside this script, else it is built in build/gpu)
#   --no-sanitizer    leave compute-sanitizer out
#   --pack DIR        do none of this: build the library here and put all that another machine needs into DIR, where
#                     DIR/gpu_check.sh then runs (it needs no compiler, CMake or package there)

set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname -- "$here")
say() { echo "gpu_check.sh: $*" >&2; }
misuse() { say "$* (--help lists the options)"; exit 2; }

out=
python=
library=
pack=
sanitizer=1
while (($#)); do
  case $1 in
    --help | -h) sed -n '/^# usage:/,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --no-sanitizer) sanitizer= && shift && continue ;;
    --out | --python | --library | --pack) [[ -n ${2-} ]] || misuse "$1 needs a value" ;;&
    --out) out=$2 ;;
    --python) python=$2 ;;
    --library) library=$2 ;;
    --pack) pack=$2 ;;
    *) misuse "unknown option '$1'" ;;
  esac
  shift 2
done

build() {
  say "building the operators"
  cmake --preset release -S "$root" -B "$root/build/gpu" -DGEOSFT_CUDA=ON -DGEOSFT_TESTS=OFF -DGEOSFT_TOOLS=OFF >&2
  cmake --build "$root/build/gpu" --target geosft_ops >&2
  library=$root/build/gpu/lib/libgeosft_ops.so
}

# LibTorch's libraries are those of the other machine's PyTorch; what else Debian has beyond the C and C++ runtimes goes along.
pack_into() {
  build
  mkdir -p "$1"
  cp "$here/gpu_check.sh" "$here/gpu_check.py" "$library" "$1/"
  ldd "$library" | awk '$2 == "=>" && $3 ~ /^\/(usr\/)?lib/ { print $3 }' |
    grep -Ev '/(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s)\.so' | xargs -r cp -L -t "$1"
  say "packed into $1"
}

if [[ -n $pack ]]; then
  pack_into "$pack"
  exit 0
fi

if [[ -z $python ]]; then
  python=$root/.venv/bin/python
  [[ -x $python ]] || python=python3
fi
[[ -z $library && -e $here/libgeosft_ops.so ]] && library=$here/libgeosft_ops.so
[[ -n $library ]] || build
[[ -e $library ]] || misuse "--library: no file '$library'"
out=${out:-$root/build/gpu_check}
[[ $library == "$here"/* ]] && out=${out/#$root\/build/$here}
mkdir -p "$(dirname -- "$out")"
torch=$("$python" -c 'import os, torch; print(os.path.join(os.path.dirname(torch.__file__), "lib"))')
beside=$(dirname -- "$library")
export LD_LIBRARY_PATH=$torch:$beside${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

results=()
if [[ -n $sanitizer ]]; then
  command -v compute-sanitizer >/dev/null || { say "no compute-sanitizer on the PATH: add it, or leave it out with --no-sanitizer"; exit 1; }
  for tool in memcheck racecheck initcheck synccheck; do
    say "compute-sanitizer $tool"
    # PyTorch's allocator hands out parts of large blocks: without it every array has bounds of its own.
    if PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool "$tool" --error-exitcode 9 \
      "$python" "$here/gpu_check.py" "$library" --small >"$out.$tool.log" 2>&1; then
      results+=(--sanitizer "$tool=clean")
    else
      results+=(--sanitizer "$tool=errors, see $(basename -- "$out").$tool.log")
      say "compute-sanitizer $tool has found something: $out.$tool.log"
    fi
  done
fi

say "checks and benchmark"
status=0
"$python" "$here/gpu_check.py" "$library" --out "$out" "${results[@]}" || status=1
[[ ! -e $out.md ]] || cat "$out.md"
exit "$status"
