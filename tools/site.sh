#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/site.sh [--setup] [options]
# Builds the site of the documents into build/site, with the API reference where Doxygen and a configured build are there.
#
#   --setup        only install MkDocs, into build/site-venv

set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/setup.sh"

setup_only=
while (($#)); do
  case $1 in
    --setup) setup_only=1 && shift ;;
    *) geosft_option "$@" && shift "$geosft_taken" ;;
  esac
done

cd -- "$geosft_root"
venv=$geosft_root/build/site-venv
if ! "$venv/bin/python" -I -c "import mkdocs, material" 2>/dev/null; then
  geosft_say "site: installing MkDocs into $venv"
  mkdir -p build
  python3 -I -m venv --clear "$venv" || geosft_die "cannot make a virtual environment: is python3-venv installed?"
  "$venv/bin/python" -I -m pip install --quiet --no-input -r tools/site/requirements.txt ||
    geosft_die "pip could not install MkDocs: see its message above (no network, or a full disk?)"
fi
[[ -z $setup_only ]] || exit 0
build=build/$geosft_preset
[[ ! -f $build/Doxyfile ]] || cmake --build "$build" --target reference
"$venv/bin/python" tools/site/build.py build/site "$build/reference/html"
