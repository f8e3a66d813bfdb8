#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/view.sh [options] [-- GEOSFT-VIEW-ARGUMENT…]
# Installs what geosft-view needs, builds it, and runs it with the arguments; pictures are drawn on an invisible display
# where there is no screen. Without arguments: a picture of the quickstart's chair, coloured by the importance of its points,
# and a page for a browser.

set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/setup.sh"

geosft_options "$@"
arguments=("${geosft_rest[@]}")

run=$geosft_root/runs/quickstart
if ((${#arguments[@]} == 0)); then
  [[ -e $run/best.ckpt && -e $run/shapes/chair.obj ]] || geosft_die "no finished run in '$run': tools/quickstart.sh makes it"
  arguments=("$run/shapes/chair.obj" --run "$run" --screenshot "$run/view_chair.png" --html "$run/view_chair.html")
fi

# shellcheck disable=SC2034
geosft_viewer=1
geosft_setup
geosft_build geosft-view
screen=()
# A window that nobody sees would stay open for ever.
[[ -n ${DISPLAY-} || ! " ${arguments[*]}" =~ \ --(screenshot|turntable|frame-rate) ]] || screen=(xvfb-run -a -s '-screen 0 1600x1200x24')
echo "\$ ${screen[*]:+xvfb-run -a }build/$geosft_preset/bin/geosft-view ${arguments[*]}" >&2
"${screen[@]}" "$geosft_root/build/$geosft_preset/bin/geosft-view" "${arguments[@]}"
[[ ${arguments[*]} != *"$run/view_chair.png"* ]] || geosft_say "the picture: $run/view_chair.png; the page, for a browser: $run/view_chair.html"
