#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/setup.sh [--cuda] [--nvcc] [--torch DIR] [--torch-version X] [--viewer] [--jobs N] [--preset NAME]
# Installs the Debian packages of tools/packages.txt that are missing and LibTorch (into .venv), and configures the build.
# Safe to run again: what is there is left alone. The other scripts of this folder source this file for its functions.
#
#   --cuda         LibTorch's CUDA install, and --nvcc (the default where an NVIDIA GPU is present); otherwise the smaller
#                  CPU one
#   --nvcc         compile the CUDA kernels also where no GPU is, and install CUDA's compiler for it where the system has
#                  none of 13.0 or later (332 MB in .venv)
#   --torch DIR    use the LibTorch or PyTorch in DIR, the folder that holds include/ and lib/, and install none
#   --torch-version X  install LibTorch X, 2.11 to 2.15, or X.Y.Z (default: the one that is there, else 2.15)
#   --viewer       also what geosft-view draws with (tools/packages_viewer.txt: Open3D, 0.4 GB on disk)
#   --jobs N       compile and test N at a time (default: one a core, fewer where memory is short)
#   --preset NAME  release (default), debug, asan or tsan: a preset of CMakePresets.json, built in build/NAME (fuzz: tools/fuzz.sh)

set -euo pipefail

geosft_root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
geosft_torch_versions=(2.11.0 2.12.1 2.13.0 2.14.1 2.15.0) # that --torch-version takes, one for each minor version
geosft_torch_version=${geosft_torch_versions[-1]}          # the newest with which every test passes
# What `import torch` needs besides the two CUDA packages of geosft_cuda_pins, with stubs in place of the rest of CUDA
# (geosft_install_stubs).
geosft_torch_cpu=(typing_extensions==4.16.0 sympy==1.14.0 mpmath==1.3.0 networkx==3.6.1 Jinja2==3.1.6 MarkupSafe==3.0.4
  filelock==4.2.11 fsspec==2026.9.0)
geosft_wheel_tools=(scikit-build-core==1.1.2 packaging==26.3 pathspec==1.1.1) # that build the Python package
# What only tests of the Python package import: PyTorch Geometric, ONNX Runtime, Matplotlib, safetensors, and what these need.
geosft_test_packages=(numpy==2.4.6 torch_geometric==2.8.0 psutil==7.2.2 tqdm==4.70.1 xxhash==4.1.0 requests==2.34.2 urllib3==2.8.0
  idna==3.20 certifi==2026.10.19.post1 charset_normalizer==3.5.3 pyparsing==3.3.3 onnx==1.23.2 onnx_ir==1.1.0 onnxscript==0.7.2
  onnxruntime==1.32.0 flatbuffers==25.12.19 ml_dtypes==0.6.0 protobuf==7.36.2 matplotlib==3.11.2 contourpy==1.3.3 cycler==0.12.1
  fonttools==4.68.0 kiwisolver==1.5.1 pillow==13.0.0 python_dateutil==4.0.0 safetensors==0.8.0)
geosft_stamp=$geosft_root/.venv/geosft-torch

geosft_cuda=
geosft_viewer=
geosft_nvcc=
geosft_wheel=
geosft_toolkit=
geosft_architectures= # of GPUs, for a new build folder; empty: the build's default
geosft_kernels=
geosft_torch=
geosft_torch_wanted= # the version that was asked for
geosft_jobs=
geosft_preset=release

geosft_say() { echo "${0##*/}: $*" >&2; }
geosft_die() { geosft_say "$@"; exit 1; }
geosft_misuse() { geosft_say "$* (--help lists the options)"; exit 2; }

# Prints the usage comment at the top of the running script and, for the other scripts, the options shared with this one.
geosft_help() {
  sed -n '/^# usage:/,/^$/s/^# \{0,1\}//p' "$0"
  [[ ${BASH_SOURCE[0]} == "$0" ]] || sed -n 's/^#   -/  -/p' "${BASH_SOURCE[0]}"
  exit 0
}

# Takes the shared option at $1 and leaves in geosft_taken how many arguments it was.
geosft_option() {
  geosft_taken=2
  case $1 in
    --help | -h) geosft_help ;;
    --cuda) geosft_cuda=1 geosft_taken=1 ;;
    --viewer) geosft_viewer=1 geosft_taken=1 ;;
    --nvcc) geosft_nvcc=1 geosft_taken=1 ;;
    --torch | --torch-version | --jobs | --preset) [[ -n ${2-} ]] || geosft_misuse "$1 needs a value" ;;&
    --torch) geosft_torch=$(cd -- "$2" 2>/dev/null && pwd) || geosft_misuse "--torch: no folder '$2'" ;;
    --torch-version)
      geosft_torch_wanted=$(printf '%s\n' "${geosft_torch_versions[@]}" | grep -E "^${2//./\\.}(\\.[0-9]+)?\$") ||
        geosft_misuse "--torch-version: '$2' is none of ${geosft_torch_versions[*]}"
      geosft_torch_version=$geosft_torch_wanted ;;
    --jobs) [[ $2 =~ ^[1-9][0-9]*$ ]] || geosft_misuse "--jobs: '$2' is not a number of 1 or more"; geosft_jobs=$2 ;;
    --preset)
      [[ $2 == @(release|debug|asan|tsan) ]] || geosft_misuse "--preset: '$2' is none of release, debug, asan, tsan"
      geosft_preset=$2 ;;
    *) geosft_misuse "unknown option '$1'" ;;
  esac
}

# Takes the shared options in front of `--`, and leaves what follows it in geosft_rest.
geosft_options() {
  geosft_rest=()
  while (($#)); do
    case $1 in
      --) shift && geosft_rest=("$@") && break ;;
      *) geosft_option "$@" && shift "$geosft_taken" ;;
    esac
  done
}

geosft_as_root() { if ((EUID == 0)); then "$@"; else sudo -- "$@"; fi; }

# Prints those of the given packages that are not installed; a|b is a, unless b is there.
geosft_missing() {
  local installed wanted name
  installed=" $(dpkg-query -W -f='${Package}:${db:Status-Status} ')"
  for wanted; do
    for name in ${wanted//|/ }; do [[ $installed != *" $name:installed "* ]] || continue 2; done
    echo "${wanted%%|*}"
  done
}

# geosft_install_packages NAME…: those that are missing, with apt-get.
geosft_install_packages() {
  local missing name unknown=() apt=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300)
  if ! command -v dpkg-query apt-get >/dev/null; then
    geosft_say "packages: not a Debian system: taking for granted what tools/packages.txt lists"
    return
  fi
  mapfile -t missing < <(geosft_missing "$@")
  ((${#missing[@]})) || { geosft_say "packages: all $# there"; return; }
  geosft_say "packages: installing ${missing[*]}"
  ((EUID == 0)) || command -v sudo >/dev/null ||
    geosft_die "cannot install packages without root or sudo; as root: apt-get install ${missing[*]}"
  geosft_as_root "${apt[@]}" update </dev/null || geosft_say "packages: apt-get update failed: going on with the lists at hand"
  for name in "${missing[@]}"; do
    [[ -n $(apt-cache madison "$name" 2>/dev/null) ]] || unknown+=("$name")
  done
  ((${#unknown[@]} == 0)) || geosft_die "no package ${unknown[*]} in this system's lists: no network, or not Debian 12?"
  # --no-remove: nothing of the user's is ever traded for what we need.
  geosft_as_root "${apt[@]}" install -y --no-install-recommends --no-remove "${missing[@]}" </dev/null ||
    geosft_die "apt-get could not install ${missing[*]}: see its message above (no network?)"
}

geosft_has_gpu() { [[ -e /dev/nvidia0 ]] || nvidia-smi -L >/dev/null 2>&1; }

# geosft_torch_folder: where the wheel's include/ and lib/ are; nothing before the install.
geosft_torch_folder() {
  local folder
  for folder in "$geosft_root"/.venv/lib/python3*/site-packages/torch; do
    [[ ! -e $folder/lib/libtorch_cpu.so ]] || echo "$folder"
  done
}

# Prints the libraries that `import torch` needs and that are neither in .venv nor in the system.
geosft_missing_libraries() {
  LC_ALL=C env -u LD_LIBRARY_PATH ldd "$1/libtorch_python.so" | awk '/=> not found/ {print $1}' | sort -u
}

# Makes `import torch` work after the CPU install, which leaves out most of CUDA's libraries. Every missing one becomes a
# link in torch/lib to one library of stubs, with a function for each missing symbol; calling one ends the program with a
# message. LibTorch looks into nvidia/*/lib of .venv before torch/lib, so libraries installed later are used instead.
geosft_install_stubs() {
  local folder stubs=libgeosft_cuda_stubs.so work missing library versions=()
  folder=$(geosft_torch_folder)/lib
  [[ -e $folder/libtorch_python.so && -n $(geosft_missing_libraries "$folder") ]] || return 0
  # An older library of stubs would hide which symbols are missing.
  find "$folder" -maxdepth 1 -lname "$stubs" -delete
  rm -f -- "$folder/$stubs"
  mapfile -t missing < <(geosft_missing_libraries "$folder")
  geosft_say "LibTorch: making stubs of ${missing[*]}"
  work=$(mktemp -d)
  cat >"$work/stubs.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
const int geosft_cuda_stubs = 1; /* tells programs that these are stubs */
static void stop(const char* name) {
  fprintf(stderr, "%s: this LibTorch is for the CPU only; tools/setup.sh --cuda installs the CUDA one\n", name);
  abort();
}
END
  # Symbols named Py… are the interpreter's. Symbols with a version must be defined with that version.
  LC_ALL=C env -u LD_LIBRARY_PATH ldd -r "$folder/libtorch_python.so" 2>&1 |
    awk -v code="$work/stubs.c" -v versions="$work/stubs.map" '
    /^undefined symbol: / && $3 !~ /^_?Py/ {
      name = $3
      sub(/,$/, "", name)
      if (seen[name]++) next
      printf "void %s(void) { stop(\"%s\"); }\n", name, name >>code
      if ($4 == "version") symbols[$5] = symbols[$5] " " name ";"
    }
    END { for (version in symbols) printf "%s { global:%s };\n", version, symbols[version] >versions }'
  [[ ! -e $work/stubs.map ]] || versions=("-Wl,--version-script=$work/stubs.map") # ld refuses an empty one
  cc -shared -fPIC -fno-builtin "$work/stubs.c" "${versions[@]}" -o "$folder/$stubs" ||
    geosft_die "cannot compile the stubs of CUDA's libraries: see the message above"
  for library in "${missing[@]}"; do ln -s -- "$stubs" "$folder/$library"; done
  rm -rf -- "$work"
}

# geosft_cuda_pins cpu|nvcc: the CUDA packages of the release that the wheel of LibTorch was made with. libtorch_cpu.so
# needs only the first two.
geosft_cuda_pins() {
  local toolkit=13.0.2 runtime=13.0.96 cupti=13.0.85 compiler=13.0.88
  if [[ $geosft_torch_version == 2.15.* ]]; then toolkit=13.2.2 runtime=13.2.86 cupti=13.2.86 compiler=13.2.86; fi
  case $1 in
    cpu) echo "nvidia-cuda-runtime==$runtime nvidia-cuda-cupti==$cupti" ;;
    # Without the last two pip takes versions whose PTX this ptxas refuses.
    nvcc) echo "cuda-toolkit[nvcc,cccl,cudart]==$toolkit nvidia-nvvm==$compiler nvidia-cuda-crt==$compiler" ;;
  esac
}

# Puts the wheel into .venv. The stamp names a finished install, and says so when one was interrupted.
geosft_install_torch() {
  local kind='cpu with Python' state='' python=/usr/bin/python3 venv=$geosft_root/.venv pins=()
  [[ -x $python ]] || python=python3
  [[ -z $geosft_cuda ]] || kind=cuda
  [[ ! -e $geosft_stamp ]] || state=$(<"$geosft_stamp")
  if [[ -z $geosft_torch_wanted && " ${geosft_torch_versions[*]} " == *" ${state%% *} "* && -n $state ]]; then
    geosft_torch_version=${state%% *}
  fi
  [[ -n $(geosft_torch_folder) ]] || state=${state:+interrupted}
  if [[ $state == "$geosft_torch_version $kind" || $state == "$geosft_torch_version cuda" ]]; then
    geosft_say "LibTorch: $state there"
    return
  fi
  if [[ -z $state && -e $venv ]]; then
    geosft_die "$venv is not from this script: move it away, or name a LibTorch with --torch"
  elif [[ -n $state && $state != "$geosft_torch_version cpu with Python" ]]; then
    geosft_say "LibTorch: '$state' found where '$geosft_torch_version $kind' is wanted: starting again"
    rm -rf -- "$venv"
  fi
  geosft_say "LibTorch: installing $geosft_torch_version ($kind) into .venv"
  mkdir -p -- "$venv"
  echo interrupted >"$geosft_stamp"
  "$python" -I -m venv "$venv" || geosft_die "cannot make a virtual environment with $python: is python3-venv installed?"
  # -I: neither PYTHONPATH nor the user's own packages may pass for what the environment lacks.
  pins=("torch==$geosft_torch_version")
  [[ -n $geosft_cuda ]] || read -ra pins <<<"--no-deps ${pins[*]} $(geosft_cuda_pins cpu) ${geosft_torch_cpu[*]}"
  "$venv/bin/python" -I -m pip install --no-input "${pins[@]}" ||
    geosft_die "pip could not install torch $geosft_torch_version: see its message above (no network, or a full disk?)"
  [[ -n $(geosft_torch_folder) ]] || geosft_die "torch $geosft_torch_version came without lib/libtorch_cpu.so"
  echo "$geosft_torch_version $kind" >"$geosft_stamp"
}

# Whether build/<preset> was configured when Open3D was not there.
geosft_lacks_viewer() { [[ -n $geosft_viewer ]] && grep -q '^Open3D_DIR:PATH=Open3D_DIR-NOTFOUND' "$1/CMakeCache.txt"; }

# Whether build/<preset> was configured without the toolkit, or without the kernels that --nvcc and --cuda ask for. OFF
# was somebody's choice.
geosft_without_kernels() { [[ -e $1/CMakeCache.txt ]] && grep -q '^GEOSFT_CUDA:.*=OFF' "$1/CMakeCache.txt"; }
geosft_lacks_nvcc() {
  [[ -n $geosft_toolkit ]] && ! geosft_without_kernels "$1" || return 1
  [[ -n $geosft_kernels ]] && grep -q '^GEOSFT_CUDA:.*=AUTO' "$1/CMakeCache.txt" && return
  ! grep -q "^CUDAToolkit_ROOT:.*=$geosft_toolkit\$" "$1/CMakeCache.txt"
}

# CUDA's compiler: the system's, else pip's in .venv. Leaves the toolkit's folder in geosft_toolkit.
geosft_install_nvcc() {
  local found release venv=$geosft_root/.venv pip_toolkit pins
  pip_toolkit=$(echo "$venv"/lib/python3*/site-packages/nvidia/cu13)
  for found in "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc "$pip_toolkit/bin/nvcc"; do
    [[ -x $found ]] || continue
    found=$(readlink -f -- "$found")
    release=$("$found" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\).*/\1/p') || continue # it does not run
    ((${release:-0} < 13)) || { geosft_say "nvcc: $found"; geosft_toolkit=${found%/bin/nvcc}; return; }
  done
  [[ -x $venv/bin/python ]] || { geosft_say "nvcc: none, and no .venv to install it in: without CUDA kernels"; return; }
  geosft_say "nvcc: installing it into .venv"
  read -ra pins <<<"$(geosft_cuda_pins nvcc)"
  "$venv/bin/python" -I -m pip install --no-input "${pins[@]}" ||
    geosft_die "pip could not install nvcc: see its message above (no network, or a full disk?)"
  geosft_toolkit=$(echo "$venv"/lib/python3*/site-packages/nvidia/cu13)
}

# What builds the Python package, into .venv, where there is one.
geosft_install_wheel_tools() {
  local python=$geosft_root/.venv/bin/python
  if [[ ! -x $python ]] || "$python" -I -c 'import scikit_build_core' 2>/dev/null; then return; fi
  geosft_say "Python package: installing ${geosft_wheel_tools[0]} into .venv"
  "$python" -I -m pip install --no-input "${geosft_wheel_tools[@]}" ||
    geosft_die "pip could not install ${geosft_wheel_tools[0]}: see its message above (no network?)"
}

# The packages of geosft_test_packages into .venv/tests, which is on the path of those tests alone: the others show that
# the package needs none of them.
geosft_install_test_packages() {
  local venv=$geosft_root/.venv folder=$geosft_root/.venv/tests
  if [[ ! -x $venv/bin/python || $(cat -- "$folder/installed" 2>/dev/null) == "${geosft_test_packages[*]}" ]]; then return; fi
  geosft_say "Python package: installing what its tests compare with into .venv/tests"
  rm -rf -- "$folder"
  if "$venv/bin/python" -I -m pip install --no-input --quiet --no-deps --no-compile --target "$folder" "${geosft_test_packages[@]}"; then
    echo "${geosft_test_packages[*]}" >"$folder/installed"
  else
    geosft_say "pip could not install them (see above): the tests that need them are left out"
    rm -rf -- "$folder"
  fi
}

# Configures build/<preset>, unless that was done for the same LibTorch, which .venv may have changed since: from then on ninja sees what changed.
geosft_configure() {
  local cuda=() folder=$geosft_root/build/$geosft_preset torch=${geosft_torch:-$(geosft_torch_folder)}
  if [[ $folder/build.ninja -nt $geosft_stamp ]] && grep -qxF "GEOSFT_TORCH_DIR:PATH=$torch" "$folder/CMakeCache.txt" &&
    ! geosft_lacks_viewer "$folder" && ! geosft_lacks_nvcc "$folder"; then
    return
  fi
  geosft_say "configuring build/$geosft_preset"
  if [[ -n $geosft_toolkit ]] && ! geosft_without_kernels "$folder"; then
    cuda+=("-DCUDAToolkit_ROOT=$geosft_toolkit" ${geosft_kernels:+-DGEOSFT_CUDA=ON}
      ${geosft_architectures:+"-DGEOSFT_CUDA_ARCHITECTURES=$geosft_architectures"})
  fi
  (cd -- "$geosft_root" && cmake --preset "$geosft_preset" "-DGEOSFT_TORCH_DIR:PATH=$torch" \
    "${cuda[@]}") || {
    rm -f -- "$folder/build.ninja" # so that the next run configures again
    geosft_die "CMake could not configure build/$geosft_preset: see its message above"
  }
}

# One install or build in a checkout at a time; the lock goes with geosft_unlock or the process.
geosft_lock() {
  if ! mkdir -p -- "$geosft_root/build" || [[ ! -w $geosft_root/build ]]; then
    geosft_die "cannot write to '$geosft_root/build': was it made by another user?"
  fi
  exec 9>"$geosft_root/build/.lock"
  flock -n 9 || { geosft_say "waiting for another script in this checkout"; flock 9; }
}
geosft_unlock() { exec 9>&-; }

# One a core, but no more than memory holds: a compiler takes up to 1.7 GB, and swapping is slower than waiting.
geosft_default_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ {print int($2 / 1700000)}' /proc/meminfo)
  echo $((memory < 1 ? 1 : memory < cores ? memory : cores))
}

# Packages, LibTorch and the configured build folder.
geosft_setup() {
  local packages
  # What was asked for must be there; of a GPU that is merely there the build makes what it can.
  geosft_kernels=$geosft_cuda$geosft_nvcc
  if [[ -n $geosft_cuda ]] || geosft_has_gpu; then geosft_cuda=1 geosft_nvcc=1; fi
  geosft_lock
  mapfile -t packages < <(grep -hv '^#' "$geosft_root/tools/packages.txt" \
    ${geosft_viewer:+"$geosft_root/tools/packages_viewer.txt"})
  geosft_install_packages "${packages[@]}"
  if [[ -n $geosft_torch ]]; then
    geosft_say "LibTorch: taking $geosft_torch"
  else
    geosft_install_torch
    geosft_install_stubs
  fi
  [[ -z $geosft_nvcc ]] || geosft_install_nvcc
  [[ -z $geosft_wheel ]] || geosft_install_wheel_tools
  geosft_configure
  geosft_jobs=${geosft_jobs:-$(geosft_default_jobs)}
}

# geosft_build TARGET…: all is everything.
geosft_build() {
  geosft_say "building $* in build/$geosft_preset, $geosft_jobs at a time"
  NINJA_STATUS='[%f/%t, %e s] ' cmake --build "$geosft_root/build/$geosft_preset" --parallel "$geosft_jobs" \
    --target "$@" || geosft_die "the build failed: see the first error above"
  geosft_unlock
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  while (($#)); do
    geosft_option "$@"
    shift "$geosft_taken"
  done
  geosft_setup
  geosft_say "ready: cmake --build --preset $geosft_preset"
fi
