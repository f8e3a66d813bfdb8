// SPDX-License-Identifier: Apache-2.0
// What a sweep compares, and the file that says so:
//   configs = ["mutag.toml"]           # configurations; paths are relative to the file
//   set = ["epochs=40", "num_seeds=3"] # for all of them
//   vary = ["score=maxout,dot"]        # every combination is run
//   [[variations]]                     # changes with a name, one after the other, the first to compare the others with
//   name = "no bonds"
//   set = ["relative=false"]           # may be absent: the configuration as it is
// Each key may be absent.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace geosft {

struct NamedChange {
  std::string name;
  std::vector<std::string> set = {};  // entries "key=value"
};

struct SweepList {
  std::vector<std::filesystem::path> configs = {};  // none: one, with the defaults
  std::vector<std::string> set = {};                // entries "key=value"
  std::vector<NamedChange> variations = {};         // none: configurations as they are
  std::vector<std::string> vary = {};               // entries "key=value,value"
};

// Throws UsageError, naming file and line, for an unknown key (with the nearest known one), a value of another form, a
// variation without a name, broken TOML, and a file that cannot be read.
SweepList read_sweep_list(const std::filesystem::path& file);

}  // namespace geosft
