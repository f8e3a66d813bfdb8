#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/gpu_check.sh [--only PARTS] [--out NAME] [--python PYTHON] [--library FILE]
#                           [--sanitizers LIST | --no-sanitizer] [--no-benchmark]
#        tools/gpu_check.sh --pack DIR [--architectures LIST]
# Checks operators and tools on this machine's GPU against the CPU, trains on it, times everything beside its bound and
# its rivals, and runs compute-sanitizer over the operators; writes NAME.json and NAME.md. Needs a GPU and a Python with
# PyTorch for it, and no network. Builds first, with what tools/packages.txt lists and nvcc, unless packed or --library.
#
#   --only PARTS           some of the parts (PART,PART), each of which adds to NAME.json what it finds, result by result:
#                          checks      the operators: CPU against CUDA, gradients, same bits, CUDA graphs, 2^31 elements
#                          tools       classify, segment, graph: train twice, eval, predict, change device, little memory
#                          training    ModelNet40's configuration: steps a second, share of time in kernels
#                          benchmark   the operators, beside others
#                          sanitizers  compute-sanitizer over small checks (long; --sanitizers takes one at a time)
#   --out NAME             where the report goes (default: build/gpu_check; of a packed folder: gpu_check in it)
#   --python PYTHON        a Python that imports torch with CUDA (default: .venv/bin/python, else python3)
#   --library FILE         libgeosft_ops.so (default: the one beside this script, else it is built in build/gpu)
#   --sanitizers LIST      tools of compute-sanitizer to run (default: "memcheck racecheck initcheck synccheck")
#   --no-sanitizer         leave the part sanitizers out
#   --no-benchmark         leave the parts training and benchmark out
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
parts="checks tools training benchmark sanitizers"
left_out=
while (($#)); do
  case $1 in
    --help | -h) sed -n '/^# usage:/,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --no-sanitizer) left_out+=" sanitizers" && shift && continue ;;
    --no-benchmark) left_out+=" training benchmark" && shift && continue ;;
    --only | --out | --python | --library | --sanitizers | --pack | --architectures) [[ -n ${2-} ]] || misuse "$1 needs a value" ;;&
    --only) parts=${2//,/ } ;;
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

for part in $parts; do
  [[ " checks tools training benchmark sanitizers " == *" $part "* ]] || misuse "--only: no part '$part'"
done
programs=(geosft-classify geosft-segment geosft-graph geosft-sequence)

if [[ -z $python ]]; then
  python=$root/.venv/bin/python
  [[ -n $packed || ! -x $python ]] && python=python3
fi

# With the LibTorch of that Python, if it has one; it need not be one that can be imported here.
build() {
  local torch
  torch=$("$python" -c 'import importlib.util as u; t = u.find_spec("torch"); print(t.submodule_search_locations[0] if t else "")')
  say "building the operators and ${programs[*]}"
  cmake --preset release -S "$root" -B "$root/build/gpu" -DGEOSFT_CUDA=ON -DGEOSFT_TESTS=OFF \
    ${torch:+-DGEOSFT_TORCH_DIR:PATH="$torch"} ${architectures:+-DGEOSFT_CUDA_ARCHITECTURES="$architectures"} >&2
  local targets=(geosft_ops "${programs[@]}")
  # Where LibTorch has the headers of its CUDA part.
  if cmake --build "$root/build/gpu" --target help | grep '^geosft_cuda_graph:' >/dev/null; then targets+=(geosft_cuda_graph); fi
  cmake --build "$root/build/gpu" --target "${targets[@]}" >&2
  library=$root/build/gpu/lib/libgeosft_ops.so
}

# Prints the minor version, such as 2.15, of that Python's PyTorch, for which alone a compiled library is.
minor_version() { "$python" -c 'import importlib.metadata as m; print(*m.version("torch").split(".")[:2], sep=".")'; }

# Shared libraries that a file needs beside those of LibTorch and of the C and C++ runtimes, which are the other machine's.
libraries_of() {
  ldd "$1" | awk -v own="$root/build/gpu/lib/" '$2 == "=>" && ($3 ~ /^\/(usr\/)?lib/ || index($3, own) == 1) { print $3 }' |
    grep -Ev '/lib(c|m|mvec|dl|rt|pthread|util|resolv|nsl|anl|stdc\+\+|gcc_s)\.so' || true
}

# What the tools need lies apart: the other machine's Python must not find its OpenSSL, say.
pack_into() {
  local file
  architectures=${architectures:-90-real}
  build
  mkdir -p "$1/gpu" "$1/programs"
  cp -L "$here/gpu_check.sh" "$library" "$1/"
  cp "$here"/gpu/*.py "$1/gpu/"
  cp "$here/configs/modelnet40.toml" "$1/programs/"
  cp "${programs[@]/#/$root/build/gpu/bin/}" "$1/programs/"
  libraries_of "$library" | xargs -r cp -L -t "$1"
  for file in "${programs[@]}"; do libraries_of "$root/build/gpu/bin/$file"; done | sort -u | xargs -r cp -L -t "$1/programs"
  # Loaded, not linked; without it steps are not replayed.
  if [[ -e $root/build/gpu/lib/libgeosft_cuda_graph.so ]]; then
    cp "$root/build/gpu/lib/libgeosft_cuda_graph.so" "$1/programs"
  fi
  for file in "$1"/*.so* "$1"/programs/*.so* "${programs[@]/#/$1/programs/}"; do strip --strip-unneeded "$file"; done
  minor_version >"$1/torch-version"
  for file in "$1"/programs/libgeosft_ops.so*; do ln -sf ../libgeosft_ops.so "$file"; done # with its kernels it is large
  say "packed into $1: $(du -sh "$1" | cut -f1)"
}

if [[ -n $pack ]]; then
  pack_into "$pack"
  exit 0
fi

[[ -z $library && -n $packed ]] && library=$here/libgeosft_ops.so
[[ -n $library ]] || build
[[ -e $library ]] || misuse "--library: no file '$library'"
[[ -n $out ]] || if [[ -n $packed ]]; then out=$here/gpu_check; else out=$root/build/gpu_check; fi
mkdir -p "$(dirname -- "$out")"

torch=$("$python" -c 'import os, torch; print(os.path.join(os.path.dirname(torch.__file__), "lib"))' 2>/dev/null) ||
  { say "$python does not import torch: --python names one that does"; exit 1; }
built=$(cat -- "$here/torch-version" 2>/dev/null || minor_version)
[[ $built == "$(minor_version)" ]] ||
  { say "packed with PyTorch $built, but $python has $(minor_version): pack with tools/setup.sh --torch-version $(minor_version)"; exit 1; }
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

# One part of the report; parts do not share a process, as an error may end the GPU's context.
check() { # PART [ARGUMENT...]
  "$python" "$here/gpu/check.py" "$library" --out "$out" --part "$@" || status=1
}

# Puts what the sanitizers have found so far into the report; fails unless all are clean.
declare -A found=()
note_sanitizers() {
  local tool results=()
  for tool in $sanitizers; do results+=(--result "$tool=${found[$tool]:-not finished}"); done
  "$python" "$here/gpu/check.py" "$library" --out "$out" --part sanitizers "${results[@]}" 2>/dev/null
}

run_sanitizers() {
  local tool
  PATH=$PATH:/usr/local/cuda/bin
  for tool in $sanitizers; do
    note_sanitizers || true # not all have run
    say "compute-sanitizer $tool"
    if ! command -v compute-sanitizer >/dev/null; then
      found[$tool]="not run: no compute-sanitizer on the PATH (--no-sanitizer leaves it out)"
    elif sanitize "$tool" "$out.$tool.log"; then
      found[$tool]=clean
    else
      found[$tool]="errors, see $(basename -- "$out").$tool.log"
    fi
    say "compute-sanitizer $tool: ${found[$tool]}"
  done
  note_sanitizers || status=1
}

# A tool finds its own libraries, then PyTorch's.
wrap_programs() { # FOLDER
  local program
  for program in "${programs[@]}"; do
    [[ -x $1/$program ]] || continue
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%q exec %q "$@"\n' "$torch:$beside:$1:$aliases" "$1/$program" >"$aliases/$program"
    chmod +x "$aliases/$program"
  done
}
export XDG_CACHE_HOME=$aliases/cache # of datasets that are there for the tools part and the training alone
folder=$root/build/gpu/bin
config=$here/configs/modelnet40.toml
[[ -n $packed ]] && folder=$here/programs config=$here/programs/modelnet40.toml
wrap_programs "$folder"

status=0
for part in $parts; do
  [[ " $left_out " != *" $part "* ]] || continue
  say "$part"
  case $part in
    sanitizers) run_sanitizers ;;
    tools) check tools --programs "$aliases" ;;
    training) check training --programs "$aliases" --config "$config" ;;
    *) check "$part" ;;
  esac
done
[[ ! -e $out.md ]] || cat "$out.md"
exit "$status"
