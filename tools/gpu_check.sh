#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/gpu_check.sh [--out NAME] [--python PYTHON] [--library FILE] [--sanitizers LIST | --no-sanitizer]
#                           [--no-benchmark]
#        tools/gpu_check.sh --pack DIR [--architectures LIST]
# Checks the operators on this machine's GPU against the CPU, runs compute-sanitizer over them, trains with
# geosft-classify, and times everything beside its bound and its rivals; writes NAME.json and NAME.md. Needs a GPU and a
# Python with PyTorch for it, and no network.
#
#   --out NAME             where the report goes (default: build/gpu_check; of a packed folder: gpu_check in it)
#   --python PYTHON        a Python that imports torch with CUDA (default: .venv/bin/python, else python3)
#   --library FILE         libgeosft_ops.so (default: the one beside this script, else it is built in build/gpu)
#   --sanitizers LIST      tools of compute-sanitizer to run (default: "memcheck racecheck initcheck synccheck")
#   --no-sanitizer         leave compute-sanitizer out
#   --no-benchmark         leave training and benchmark out
#   --pack DIR             do none of this: build here and put all that another machine needs into DIR, where
#                          DIR/gpu_check.sh then runs (it needs no compiler, CMake or package there)
#   --architectures LIST   GPUs to build for, as CMAKE_CUDA_ARCHITECTURES has them (default: 90-real when packing)

set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname -- "$here")
packed=
[[ -e $here/libgeosft_ops.so ]] && packed=1
say() { echo "gpu_check.sh: $*" >&2; }
misuse() { say "$* (--help lists the options)"; exit 2; }

out=
python=
library=
pack=
architectures=
sanitizers="memcheck racecheck initcheck synccheck"
benchmark=1
while (($#)); do
  case $1 in
    --help | -h) sed -n '/^# usage:/,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --no-sanitizer) sanitizers= && shift && continue ;;
    --no-benchmark) benchmark= && shift && continue ;;
    --out | --python | --library | --sanitizers | --pack | --architectures) [[ -n ${2-} ]] || misuse "$1 needs a value" ;;&
    --out) out=$2 ;;
    --python) python=$2 ;;
    --library) library=$2 ;;
    --sanitizers) sanitizers=$2 ;;
    --pack) pack=$2 ;;
    --architectures) architectures=$2 ;;
    *) misuse "unknown option '$1'" ;;
  esac
  shift 2
done

# Builds the operators, and the classifier where what it needs is installed.
build() {
  say "building the operators and geosft-classify"
  cmake --preset release -S "$root" -B "$root/build/gpu" -DGEOSFT_CUDA=ON -DGEOSFT_TESTS=OFF \
    ${architectures:+-DGEOSFT_CUDA_ARCHITECTURES="$architectures"} >&2
  local targets=(geosft_ops geosft-classify)
  # Where LibTorch has the headers of its CUDA part.
  if cmake --build "$root/build/gpu" --target help | grep '^geosft_cuda_graph:' >/dev/null; then targets+=(geosft_cuda_graph); fi
  cmake --build "$root/build/gpu" --target "${targets[@]}" >&2
  library=$root/build/gpu/lib/libgeosft_ops.so
}

# Shared libraries that a file needs beside those of LibTorch and of the C and C++ runtimes, which are the other machine's.
libraries_of() {
  ldd "$1" | awk -v own="$root/build/gpu/lib/" '$2 == "=>" && ($3 ~ /^\/(usr\/)?lib/ || index($3, own) == 1) { print $3 }' |
    grep -Ev '/lib(c|m|mvec|dl|rt|pthread|util|resolv|nsl|anl|stdc\+\+|gcc_s)\.so' || true
}

# What the classifier needs lies apart: the other machine's Python must not find its OpenSSL, say.
pack_into() {
  local file
  architectures=${architectures:-90-real}
  build
  mkdir -p "$1/gpu" "$1/classify"
  cp -L "$here/gpu_check.sh" "$library" "$1/"
  cp "$here"/gpu/*.py "$1/gpu/"
  cp "$root/build/gpu/bin/geosft-classify" "$here/configs/modelnet40.toml" "$1/classify/"
  libraries_of "$library" | xargs -r cp -L -t "$1"
  libraries_of "$root/build/gpu/bin/geosft-classify" | xargs -r cp -L -t "$1/classify"
  # Loaded, not linked; without it steps are not replayed.
  if [[ -e $root/build/gpu/lib/libgeosft_cuda_graph.so ]]; then
    cp "$root/build/gpu/lib/libgeosft_cuda_graph.so" "$1/classify"
  fi
  for file in "$1"/*.so* "$1"/classify/*.so*; do strip --strip-unneeded "$file"; done
  for file in "$1"/classify/libgeosft_ops.so*; do ln -sf ../libgeosft_ops.so "$file"; done # with its kernels it is large
  say "packed into $1: $(du -sh "$1" | cut -f1)"
}

if [[ -n $pack ]]; then
  pack_into "$pack"
  exit 0
fi

if [[ -z $python ]]; then
  python=$root/.venv/bin/python
  [[ -n $packed || ! -x $python ]] && python=python3
fi
[[ -z $library && -n $packed ]] && library=$here/libgeosft_ops.so
[[ -n $library ]] || build
[[ -e $library ]] || misuse "--library: no file '$library'"
[[ -n $out ]] || if [[ -n $packed ]]; then out=$here/gpu_check; else out=$root/build/gpu_check; fi
mkdir -p "$(dirname -- "$out")"

torch=$("$python" -c 'import os, torch; print(os.path.join(os.path.dirname(torch.__file__), "lib"))')
beside=$(cd -- "$(dirname -- "$library")" && pwd)
aliases=$(mktemp -d)
trap 'rm -rf -- "$aliases"' EXIT
# PyTorch's wheels call the OpenMP runtime that they bring by more than one name.
for name in $(LD_LIBRARY_PATH=$torch:$beside ldd "$library" | awk '/libgomp.*not found/ { print $1 }'); do
  for file in "$torch"/libgomp*.so* "$torch"/../../torch.libs/libgomp*.so* /usr/lib/x86_64-linux-gnu/libgomp.so.1; do
    [[ -e $file ]] && ln -sf "$(readlink -f -- "$file")" "$aliases/$name" && break
  done
done
export LD_LIBRARY_PATH=$torch:$beside:$aliases${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# PyTorch's allocator hands out parts of large blocks: without it every array has bounds of its own. PyTorch's kernels are
# left alone, but for initcheck, which must see what they write; there only what our kernels read counts.
sanitize() { # TOOL LOG
  local watched=(--kernel-name regex=geosft --error-exitcode 9)
  [[ $1 == initcheck ]] && watched=()
  PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool "$1" "${watched[@]}" \
    "$python" "$here/gpu/check.py" "$library" --small >"$2" 2>&1 && ! grep -q '^=========  *at .*geosft' "$2"
}

results=()
if [[ -n $sanitizers ]]; then
  PATH=$PATH:/usr/local/cuda/bin
  command -v compute-sanitizer >/dev/null || { say "no compute-sanitizer on the PATH: add it, or leave it out with --no-sanitizer"; exit 1; }
  for tool in $sanitizers; do
    say "compute-sanitizer $tool"
    if sanitize "$tool" "$out.$tool.log"; then
      results+=(--sanitizer "$tool=clean")
    else
      results+=(--sanitizer "$tool=errors, see $(basename -- "$out").$tool.log")
      say "compute-sanitizer $tool has found something: $out.$tool.log"
    fi
  done
fi

# geosft-classify finds its own libraries, then PyTorch's.
classify=()
program=$root/build/gpu/bin/geosft-classify
config=$here/configs/modelnet40.toml
[[ -n $packed ]] && program=$here/classify/geosft-classify config=$here/classify/modelnet40.toml
if [[ -n $benchmark && -x $program ]]; then
  wrapper=$aliases/geosft-classify
  printf '#!/bin/sh\nLD_LIBRARY_PATH=%q exec %q "$@"\n' "$torch:$beside:$(dirname -- "$program"):$aliases" "$program" >"$wrapper"
  chmod +x "$wrapper"
  classify=(--classify "$wrapper" --config "$config")
fi
[[ -n $benchmark ]] || classify=(--no-benchmark)

say "checks, training and benchmark"
status=0
"$python" "$here/gpu/check.py" "$library" --out "$out" "${results[@]}" "${classify[@]}" || status=1
[[ ! -e $out.md ]] || cat "$out.md"
exit "$status"
