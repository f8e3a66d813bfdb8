#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/lint.sh [--fix] [--tidy | --tidy-all] [options]
# Checks the format of every C++ file that git knows with clang-format 14.
#
#   --fix          format the files in place instead
#   --tidy         also run clang-tidy 14 on the .cpp files that differ from the last commit
#   --tidy-all     also run clang-tidy 14 on all of them (long)

set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/setup.sh"

format=(--dry-run -Werror)
tidy=
while (($#)); do
  case $1 in
    --fix) format=(-i) && shift ;;
    --tidy | --tidy-all) tidy=$1 && shift ;;
    *) geosft_option "$@" && shift "$geosft_taken" ;;
  esac
done

# The sources that differ from the last commit.
changed_sources() {
  git diff --name-only --diff-filter=d HEAD -- '*.cpp'
  git ls-files -o --exclude-standard -- '*.cpp'
}

# What the build compiles: batches of sources, in which the headers that they share are read once.
compiled_sources() {
  sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$1/compile_commands.json" | grep -E "\.c(pp|xx)$" | sort -u
}

# clang-tidy reads the commands of a build without the precompiled header, which is in a form that only g++ knows.
run_tidy() {
  local files compile=build/lint unity=OFF
  [[ $tidy == --tidy-all ]] && unity=ON
  mapfile -t files < <(changed_sources)
  ((${#files[@]})) || [[ $unity == ON ]] || { geosft_say "clang-tidy: no file has changed"; return; }
  geosft_setup
  cmake --preset "$geosft_preset" -B "$compile" -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DGEOSFT_CCACHE=OFF \
    "-DGEOSFT_UNITY=$unity" "-DGEOSFT_TORCH_DIR:PATH=${geosft_torch:-$(geosft_torch_folder)}" >/dev/null
  geosft_unlock
  [[ $unity == ON ]] && mapfile -t files < <(compiled_sources "$compile")
  geosft_say "clang-tidy: ${#files[@]} files, $geosft_jobs at a time"
  printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$geosft_jobs" clang-tidy-14 -p "$compile" --quiet \
    --checks=-bugprone-suspicious-include --header-filter='(geometry|graph|models|data|tools|tests)/.*\.(h|cpp)$' \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Qunused-arguments ||
    geosft_die "clang-tidy has found something: see above"
}

cd -- "$geosft_root"
geosft_install_packages clang-format-14 ${tidy:+clang-tidy-14} git
mapfile -t sources < <(git ls-files -co --exclude-standard -- '*.cpp' '*.h' '*.cu' '*.cuh')
((${#sources[@]})) || geosft_die "git lists no source here: is this a clone that git trusts?"
geosft_say "clang-format: ${#sources[@]} files"
clang-format-14 "${format[@]}" "${sources[@]}" || geosft_die "the format differs from .clang-format: tools/lint.sh --fix mends it"
[[ -z $tidy ]] || run_tidy
echo "lint.sh: nothing to complain about"
