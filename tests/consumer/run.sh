#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: run.sh BUILD FOLDER [PYTHON]
# Installs the build in BUILD below FOLDER, moves the install, and builds and runs tools/examples against it: with CMake,
# with pkg-config, and from a Python that has PyTorch.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
examples=$(cd -- "$here/../../tools/examples" && pwd)
build=$1 folder=$2 python=${3-}
say() { echo "consumer: $*"; }

rm -rf -- "$folder"
mkdir -p -- "$folder/shapes/flat" "$folder/shapes/tall"
cmake --install "$build" --prefix "$folder/first" >"$folder/install.log"
mv -- "$folder/first" "$folder/moved"
prefix=$folder/moved
# The moved install must not fall back on the build.
if grep -rIl -e "$build" -e "$folder/first" "$prefix/lib/cmake" "$prefix/lib/pkgconfig" "$prefix/include"; then
  say "these installed files name the folder they were built in" && exit 1
fi

if readelf -d "$prefix"/lib/lib*.so "$prefix"/bin/* | grep -E 'R(UN)?PATH' | grep -F -e "$build" -e "$folder/first"; then
  say "these installed libraries or programs look for others in the folder they were built in" && exit 1
fi

say "libraries export only namespace geosft"
foreign=$(nm -D --defined-only "$prefix"/lib/lib*.so | grep -E '^[0-9a-f]+ [A-Za-z] ' |
  grep -vE ' (_Z(N[KRO]*|ZNK?|T[ISVT]N|GVZ?NK?|T[hv].*_N)6geosft|geosft_start_mpi|geosft_make_cuda_step_graph|GEOSFT_)' || true)
[[ -z $foreign ]] || { say "they also export: $foreign" && exit 1; }

say "other versions and unknown components are rejected"
mkdir -p -- "$folder/other"
for wanted in 0.2 1.0 "0.1 COMPONENTS models nonsense"; do
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(other CXX)\nfind_package(geosft %s REQUIRED)\n' "$wanted" >"$folder/other/CMakeLists.txt"
  if cmake -S "$folder/other" -B "$folder/other/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$folder/other.log" 2>&1; then
    say "find_package(geosft $wanted) was satisfied" && exit 1
  fi
  grep -qE 'requested version|no component .nonsense. here, but geometry, .* wait_policy' <(tr -s '\n ' ' ' <"$folder/other.log") || { cat "$folder/other.log" && exit 1; }
done

say "a LibTorch of another minor version is refused"
torch=$(sed -n 's/^ *set(GEOSFT_TORCH_DIR "\(.*\)").*/\1/p' "$prefix/lib/cmake/geosft/geosftConfig.cmake")
mkdir -p -- "$folder/libtorch/lib" "$folder/libtorch/include/torch/headeronly"
ln -s -- "$torch"/lib/lib*.so* "$folder/libtorch/lib"
sed 's/\(define TORCH_VERSION_MINOR\) .*/\1 99/' "$torch/include/torch/headeronly/version.h" >"$folder/libtorch/include/torch/headeronly/version.h"
if cmake -S "$here" -B "$folder/libtorch/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" "-DGEOSFT_TORCH_DIR=$folder/libtorch" >"$folder/other.log" 2>&1; then
  say "find_package(geosft) took it" && exit 1
fi
grep -qE 'holds LibTorch [0-9]+\.99\.[0-9]+, *but this project needs [0-9]+\.[0-9]+$' <(tr -s '\n ' ' ' <"$folder/other.log" | grep -oE 'holds LibTorch [^,]*, but this project needs [0-9.;]*[0-9]') ||
  { cat "$folder/other.log" && exit 1; }

say "the caller's policies change nothing, and are left alone"
mkdir -p -- "$folder/policies/.venv/lib/python3.11/site-packages/torch" # not ours
current=$(cmake --version | sed -n '1s/.* //p')
for policies in 3.16 3.20 "$current"; do
  cat >"$folder/policies/CMakeLists.txt" <<END
cmake_minimum_required(VERSION $policies)
project(policies CXX)
cmake_policy(GET CMP0126 before)
find_package(geosft 0.1 REQUIRED COMPONENTS geometry models data classify)
cmake_policy(GET CMP0126 after)
message(STATUS "policy \${before}, then \${after}; \${GEOSFT_TORCH_DIR}")
END
  cmake -S "$folder/policies" -B "$folder/policies/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$folder/policies.log" 2>&1 ||
    { cat "$folder/policies.log" && exit 1; }
  kept= # not set
  [[ $policies != "$current" ]] || kept=NEW
  torch=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --variable=torch geosft)
  grep -qF "policy $kept, then $kept; $torch" "$folder/policies.log" || { cat "$folder/policies.log" && exit 1; }
  if grep GEOSFT_ "$folder/policies/build/CMakeCache.txt"; then say "find_package(geosft) leaves cache variables" && exit 1; fi
done
if cmake -S "$folder/policies" -B "$folder/policies/build" -DGEOSFT_TORCH_DIR="$folder" >"$folder/policies.log" 2>&1 ||
  ! grep -qF "GEOSFT_TORCH_DIR='$folder'" "$folder/policies.log"; then
  say "another copy of LibTorch is not looked at" && cat "$folder/policies.log" && exit 1
fi
if PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --exists 'geosft >= 0.2'; then say "pkg-config takes it for 0.2" && exit 1; fi

say "the programs, by CMake"
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
  --data "$folder/shapes" --out "$folder/run" --epochs 2 --points 64 --dim 16 --num-heads 2 --depth 1 --num-samples 8 --head-num-samples 16 \
  2>"$folder/train.log" || { cat "$folder/train.log" && exit 1; }
"$folder/build/1_classify_a_cloud" "$folder/run" "$folder/shapes/flat/1.off" "$folder/shapes/tall/1.off"
if "$folder/build/1_classify_a_cloud" "$folder/nowhere" 2>"$folder/error.txt"; then say "a missing RUN was accepted" && exit 1; fi
cat "$folder/error.txt"

say "clouds in memory, by the twelfth example, whose waiting threads sleep"
OMP_DISPLAY_ENV=VERBOSE "$folder/build/12_classify_points_in_memory" "$folder/run" 1 2>"$folder/display.txt" ||
  { cat "$folder/display.txt" && exit 1; }
grep -qF "GOMP_SPINCOUNT = '0'" "$folder/display.txt" || { cat "$folder/display.txt" && exit 1; }

say "a pretrained model, found from the moved install by a program and by the first example"
"$prefix/bin/geosft-classify" list | grep -q '^furniture '
shape=$(find "$folder/shapes" -type f | sort | head -1)
"$prefix/bin/geosft-classify" predict furniture "$shape" >/dev/null
"$folder/build/1_classify_a_cloud" furniture "$shape" >/dev/null

say "RUNs of graphs and of parts, loaded by the sixth example"
mkdir -p -- "$folder/G" "$folder/parts/train_test_split" "$folder/parts/02691156"
printf '1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n6, 7\n7, 6\n7, 8\n8, 7\n9, 10\n10, 9\n' >"$folder/G/G_A.txt"
printf '%d\n' 1 1 1 2 2 3 3 3 4 4 >"$folder/G/G_graph_indicator.txt"
printf '%d\n' 1 -1 1 -1 >"$folder/G/G_graph_labels.txt"
printf '%d\n' 0 1 0 0 1 0 1 0 1 0 >"$folder/G/G_node_labels.txt"
for i in 1 2 3 4; do
  for j in 0 1 2 3 4 5; do echo "0.$j 0.$((j * i % 7)) $((j % 2)) 0 0 1 $((j % 2)).000000"; done >"$folder/parts/02691156/$i.txt"
done
printf 'Airplane\t02691156\n' >"$folder/parts/synsetoffset2category.txt"
echo '["shape_data/02691156/1", "shape_data/02691156/2"]' >"$folder/parts/train_test_split/shuffled_train_file_list.json"
echo '["shape_data/02691156/3"]' >"$folder/parts/train_test_split/shuffled_val_file_list.json"
echo '["shape_data/02691156/4"]' >"$folder/parts/train_test_split/shuffled_test_file_list.json"
small=(--epochs 1 --dim 16 --num-heads 2 --depth 1 --num-samples 4)
XDG_CACHE_HOME=$folder/cache "$prefix/bin/geosft-graph" train --data "$folder/G" --folds 2 --out "$folder/graph_run" \
  --encoding rwpe "${small[@]}" 2>"$folder/train.log" || { cat "$folder/train.log" && exit 1; }
XDG_CACHE_HOME=$folder/cache "$prefix/bin/geosft-segment" train --data "$folder/parts" --out "$folder/part_run" \
  --points 6 "${small[@]}" 2>"$folder/train.log" || { cat "$folder/train.log" && exit 1; }
served=("$folder/graph_run" "$folder/G" "$folder/part_run" "$folder/shapes/tall/1.off" Airplane)
"$folder/build/6_predict_graphs_and_parts" "${served[@]}"

say "the third example, by pkg-config, below a folder with a blank in its name"
ln -s -- "$prefix" "$folder/a blank"
flags=$(PKG_CONFIG_PATH="$folder/a blank/lib/pkgconfig" pkg-config --cflags --libs geosft)
grep -qF 'a\ blank' <<<"$flags" || { say "pkg-config does not name that folder: $flags" && exit 1; }
eval "c++ '$examples/3_layer_on_the_sampler.cpp' -o '$folder/by_pkg_config' $flags"
"$folder/by_pkg_config"

say "the sixth and the twelfth example, by pkg-config"
by_pkg_config() {
  flags=$(PKG_CONFIG_PATH="$folder/a blank/lib/pkgconfig" pkg-config --cflags --libs "${@:2}")
  eval "c++ '$examples/$1.cpp' -o '$folder/by_pkg_config' $flags"
}
by_pkg_config 6_predict_graphs_and_parts geosft_segment geosft_graph_tool
"$folder/by_pkg_config" "${served[@]}"
by_pkg_config 12_classify_points_in_memory geosft_classify geosft_wait_policy
OMP_DISPLAY_ENV=VERBOSE "$folder/by_pkg_config" "$folder/run" 1 2>"$folder/display.txt"
grep -qF "GOMP_SPINCOUNT = '0'" "$folder/display.txt" || { cat "$folder/display.txt" && exit 1; }

if [[ -n $python ]]; then
  say "the operators, from Python"
  "$python" "$examples/4_operators_from_python.py" "$prefix/lib/libgeosft_ops.so"
  say "the RUN, from Python"
  "$python" "$examples/5_serve_from_python.py" "$prefix/lib/libgeosft_classify.so" "$folder/run" \
    "$folder/shapes/flat/1.off" "$folder/shapes/tall/1.off"
  say "the RUNs of graphs and of parts, from Python"
  "$python" "$examples/7_serve_graphs_from_python.py" "$prefix/lib" "${served[@]}"
  if "$python" -I -c "import scikit_build_core" 2>/dev/null; then
    say "models that Python has compiled, run by the eleventh example"
    "$python" -I -m pip install --no-input --quiet --no-deps --no-build-isolation --no-index --target "$folder/python" \
      --config-settings=cmake.define.GEOSFT_OPS="$prefix/lib/libgeosft_ops.so" "$here/../.."
    PYTHONPATH=$folder/python "$python" "$here/run_packages.py" "$folder" "$folder/build/11_run_a_package"
  else
    say "left out: $python has no scikit-build-core, with which the Python package is made"
  fi
fi
