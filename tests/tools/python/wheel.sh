#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: wheel.sh PYTHON FOLDER LIBRARY OTHER_VERSION MODULE_OUTPUTS [CLASSIFY LIBRARY SEGMENT LIBRARY GRAPH LIBRARY SEQUENCE]
# Builds the Python package around LIBRARY into FOLDER, and tests what was installed. OTHER_VERSION is the library with
# another version, MODULE_OUTPUTS the program of module_outputs.cpp, the rest the tools with the libraries that serve
# their models, and geosft-sequence (absent in a build without tools). Ends with 77 (skipped) where PYTHON has no scikit-build-core.
# PyTorch Geometric, ONNX Runtime, Matplotlib and safetensors are taken from the folder `tests` of PYTHON's environment
# (tools/setup.sh), by the tests that need them; without it these are left out.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$here/../../..
python=$1 folder=$2 library=$3 other=$4 module_outputs=$5 tools=("${@:6}")

"$python" -I -c "import scikit_build_core" 2>/dev/null || { echo "skipped: $python has no scikit-build-core" && exit 77; }
export GEOSFT_TEST_PACKAGES=${python%/bin/*}/tests
if [[ ! -d $GEOSFT_TEST_PACKAGES ]]; then
  echo "no $GEOSFT_TEST_PACKAGES: what needs PyTorch Geometric, ONNX Runtime, Matplotlib or safetensors is left out"
  [[ ! -v GEOSFT_REQUIRE_ALL ]] || exit 1
fi
# Of another run that was stopped, compiled files may be broken.
TORCHINDUCTOR_CACHE_DIR=$(mktemp -d)
export TORCHINDUCTOR_CACHE_DIR
trap 'rm -rf -- "$TORCHINDUCTOR_CACHE_DIR"' EXIT
"$python" "$root/tools/python/generate.py" "$library" --check
rm -rf -- "$folder"
"$python" -I -m pip install --no-input --quiet --no-deps --no-build-isolation --no-index --target "$folder" \
  --config-settings=cmake.define.GEOSFT_OPS="$library" "$root"
cd -- "$folder" # away from the sources
PYTHONPATH=$folder "$python" "$here/test_geosft.py" "$folder" "$library" "$other"
PYTHONPATH=$folder "$python" "$here/test_nn.py" "$module_outputs" "$root/tools/python/README.md"
PYTHONPATH=$folder "$python" "$root/tests/check_commands.py" --python "$root/README.md" "$root/tools/examples/README.md"
export PYTHONPATH=$folder:$GEOSFT_TEST_PACKAGES
"$python" "$here/bad_arguments.py"
"$python" "$here/test_pyg.py"
"$python" "$here/test_export.py"
if ((${#tools[@]})); then "$python" "$here/test_runs.py" "${tools[@]}"; fi
