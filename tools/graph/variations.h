// SPDX-License-Identifier: Apache-2.0
// The configurations of a sweep.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/graph/graph_settings.h"

namespace geosft {

struct Variation {
  std::string name;  // "mutag score=dot relative=false"
  GraphSettings settings;
};

// Every configuration file (the defaults, where there is none) with every combination of the values of `vary`, entries
// "key=value,value", of which a value may bring others along ("attention=sampling+positions=relative,softmax") and
// lists stand in brackets ("pool=[1,2],[2,4]"), over which `common`, entries "key=value", are laid first. Throws
// UsageError naming file or entry for an unknown key, a value that is not permitted, and an entry of another form.
std::vector<Variation> variations(const std::vector<std::filesystem::path>& files,
                                  const std::vector<std::string>& common, const std::vector<std::string>& vary);

// The name as that of a folder: letters, digits, '-', '_', '.' and '=', others as '_'.
std::string folder_name(const std::string& name);

}  // namespace geosft
