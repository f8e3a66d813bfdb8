#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: headers.sh INCLUDE TORCH FOLDER
# Every installed header below INCLUDE compiles alone, with nothing but LibTorch (in TORCH) and the C++ library: one that
# names another library's header, or forgets one that it needs, is a failure. FOLDER remembers the ones that were found
# good, with all that they include: they are not compiled again.
set -euo pipefail
include=$1 torch=$2 folder=$3 self=$(realpath -- "${BASH_SOURCE[0]}")
compiler=(g++ -std=c++20 -Wall -Wextra -Wno-unused-parameter -Werror -fopenmp -I "$include" -isystem "$torch/include"
  -isystem "$torch/include/torch/csrc/api/include")
mkdir -p -- "$folder"
cd -- "$include"
mapfile -t headers < <(find geometry graph models data tools -name '*.h' | sort)

ours='"(geometry|graph|models|data|tools)/' theirs='<((ATen|c10|torch)/.*|[a-z_]+)>'
foreign=$(grep -nE '^ *# *include' "${headers[@]}" | grep -vE "include ($ours|$theirs)" || true)
[[ -z $foreign ]] || { echo "headers of other libraries: $foreign" && exit 1; }

# The header and, directly or not, what it includes of ours.
closure() {
  local header seen=" $1 " waiting=("$1")
  while ((${#waiting[@]})); do
    header=${waiting[0]} waiting=("${waiting[@]:1}")
    echo "$header"
    for header in $(sed -n 's/^#include "\(.*\)"$/\1/p' "$header"); do
      [[ $seen == *" $header "* ]] || { seen+="$header " && waiting+=("$header"); }
    done
  done
}

# Reading LibTorch takes most of the time, so it is read once for tensors and once for modules: for the headers that
# include either, directly or not.
known=$("${compiler[@]}" --version | head -n 1)$torch
for header in "${headers[@]}"; do
  mapfile -t files < <(closure "$header")
  stamp=$folder/$({ cat -- "${files[@]}" "$self" && echo "$known"; } | sha256sum | cut -c 1-32)
  [[ ! -e $stamp ]] || continue
  read_before=
  if grep -q '^#include <torch/nn/' "${files[@]}"; then
    read_before=" -include $folder/modules.h"
  elif grep -q '^#include <ATen/ATen.h>' "${files[@]}"; then
    read_before=" -include $folder/tensors.h"
  fi
  echo "$stamp $header$read_before"
done >"$folder/wanted.txt"
echo '#include <ATen/ATen.h>' >"$folder/tensors.h"
echo '#include <torch/nn/module.h>' >"$folder/modules.h"
for precompiled in "$folder"/{tensors,modules}.h; do
  if grep -qF "$precompiled" "$folder/wanted.txt"; then echo "$precompiled"; fi
done | xargs -r -P "$(nproc)" -I '{}' "${compiler[@]}" -x c++-header -o '{}.gch' '{}'
# Included by standard input: the header itself would be a main file with #pragma once.
compile() {
  local stamp=$1 header=$2
  echo "#include \"$header\"" | "${@:3}" -fsyntax-only -x c++ - && touch "$stamp" && return
  echo "$header does not compile alone"
  return 255
}
export -f compile
# xargs puts what it reads at the end: the compiler is handed over by name.
export compiler_words="${compiler[*]}"
xargs -r -a "$folder/wanted.txt" -P "$(nproc)" -L 1 bash -c 'compile "$1" "$2" $compiler_words "${@:3}"' compile
rm -f -- "$folder"/{tensors,modules}.h.gch # 0.4 GB each
echo "${#headers[@]} headers compile alone ($(wc -l <"$folder/wanted.txt") of them compiled now)"
