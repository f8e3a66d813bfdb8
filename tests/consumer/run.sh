#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: run.sh BUILD FOLDER [PYTHON]
# Installs the build in BUILD below FOLDER, moves it, and builds and runs the examples against what was moved: found by
# CMake, by pkg-config, and from a Python that has PyTorch. FOLDER.headers remembers which public headers were compiled.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
build=$1 folder=$2 python=${3-}
say() { echo "consumer: $*"; }

rm -rf -- "$folder"
mkdir -p -- "$folder/shapes/flat" "$folder/shapes/tall"
cmake --install "$build" --prefix "$folder/first" >"$folder/install.log"
mv -- "$folder/first" "$folder/moved"
prefix=$folder/moved
# What was moved must not fall back on the build.
if grep -rIl -e "$build" -e "$folder/first" "$prefix/lib/cmake" "$prefix/lib/pkgconfig" "$prefix/include"; then
  say "these installed files name the folder they were built in" && exit 1
fi

if readelf -d "$prefix"/lib/lib*.so "$prefix"/bin/* | grep -E 'R(UN)?PATH' | grep -F -e "$build" -e "$folder/first"; then
  say "these installed libraries or programs look for others in the folder they were built in" && exit 1
fi

say "libraries show namespace geosft alone"
strangers=$(nm -D --defined-only "$prefix"/lib/lib*.so | grep -E '^[0-9a-f]+ [A-Za-z] ' |
  grep -vE ' (_Z(N[KRO]*|ZNK?|T[ISVT]N|GVZ?NK?|T[hv].*_N)6geosft|geosft_start_mpi|GEOSFT_)' || true)
[[ -z $strangers ]] || { say "these, too: $strangers" && exit 1; }

say "other versions and unknown components are refused"
mkdir -p -- "$folder/other"
for wanted in 0.2 1.0 "0.1 COMPONENTS models nonsense"; do
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(other CXX)\nfind_package(geosft %s REQUIRED)\n' "$wanted" >"$folder/other/CMakeLists.txt"
  if cmake -S "$folder/other" -B "$folder/other/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$folder/other.log" 2>&1; then
    say "find_package(geosft $wanted) was satisfied" && exit 1
  fi
  grep -qE 'requested version|no component .nonsense' "$folder/other.log" || { cat "$folder/other.log" && exit 1; }
done
if PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --exists 'geosft >= 0.2'; then say "pkg-config takes it for 0.2" && exit 1; fi

say "public headers, one by one"
"$here/headers.sh" "$prefix/include/geosft" "$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --variable=torch geosft)" "$folder.headers"

say "the three programs, by CMake"
cmake -S "$here" -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache)" \
  >"$folder/configure.log"
cmake --build "$folder/build" >"$folder/build.log" || { cat "$folder/build.log" && exit 1; }
"$folder/build/3_layer_on_the_sampler"
"$folder/build/2_train_on_your_data"

say "a RUN of the installed program, loaded by the first example"
for i in 1 2 3 4 5 6; do
  printf 'OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 0.%d\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n' "$i" >"$folder/shapes/flat/$i.off"
  printf 'OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 %d\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n' "$((i + 3))" >"$folder/shapes/tall/$i.off"
done
XDG_CACHE_HOME=$folder/cache "$prefix/bin/geosft-classify" train --config "$prefix/share/geosft/configs/furniture.toml" \
  --data "$folder/shapes" --out "$folder/run" --epochs 2 --points 64 --width 16 --heads 2 --layers 1 --bins 8 --head-bins 16 \
  2>"$folder/train.log" || { cat "$folder/train.log" && exit 1; }
"$folder/build/1_classify_a_cloud" "$folder/run" "$folder/shapes/flat/1.off" "$folder/shapes/tall/1.off"
if "$folder/build/1_classify_a_cloud" "$folder/nowhere" 2>"$folder/error.txt"; then say "a missing RUN was accepted" && exit 1; fi
cat "$folder/error.txt"

say "the third example, by pkg-config"
# shellcheck disable=SC2046 # words are wanted
PKG_CONFIG_PATH=$prefix/lib/pkgconfig c++ "$here/3_layer_on_the_sampler.cpp" -o "$folder/by_pkg_config" \
  $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs geosft)
"$folder/by_pkg_config"

if [[ -n $python ]]; then
  say "the operators, from Python"
  # Lazily: a PyTorch for the CPU alone lacks libraries that it names and never calls.
  lazily="import os, runpy, sys; sys.setdlopenflags(os.RTLD_LAZY); sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0])"
  "$python" -c "$lazily" "$here/4_operators_from_python.py" "$prefix/lib/libgeosft_ops.so"
  say "the RUN, from Python"
  "$python" -c "$lazily" "$here/5_serve_from_python.py" "$prefix/lib/libgeosft_classify.so" "$folder/run" \
    "$folder/shapes/flat/1.off" "$folder/shapes/tall/1.off"
fi
