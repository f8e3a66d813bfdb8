// SPDX-License-Identifier: Apache-2.0
// Reads the file that defines a sweep; every key is optional:
//   configs = ["mutag.toml"]           # configurations; paths are relative to the file
//   set = ["epochs=40", "num_seeds=3"] # for all of them
//   vary = ["score=maxout,dot"]        # runs every combination
//   [[variations]]                     # named changes, run in order; the others are compared with the first
//   name = "no bonds"
//   set = ["relative=false"]           # optional: without it the configuration is unchanged
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
  std::vector<std::filesystem::path> configs = {};  // empty: one configuration, with the defaults
  std::vector<std::string> set = {};                // entries "key=value"
  std::vector<NamedChange> variations = {};         // empty: unchanged configurations
  std::vector<std::string> vary = {};               // entries "key=value,value"
};

// Throws UsageError naming file and line for an unknown key (with the nearest known one), a value of the wrong form, a
// variation without a name, invalid TOML, and a file that cannot be read.
SweepList read_sweep_list(const std::filesystem::path& file);

}  // namespace geosft
