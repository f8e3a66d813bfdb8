// SPDX-License-Identifier: Apache-2.0
// Lists the configurations of a sweep.
#pragma once

#include <string>
#include <vector>

#include "tools/experiment/graph_settings.h"
#include "tools/graph/sweep_list.h"

namespace geosft {

struct Variation {
  std::string name;  // "mutag score=dot relative=false"
  GraphSettings settings;
};

// Combines every configuration of the list, with its `set` applied, with each named change and with all combinations of
// the values of `vary`. A value may set further keys ("attention=sampling+positions=relative,softmax"); lists are in
// brackets ("pool=[1,2],[2,4]"). Throws UsageError naming file or entry for an unknown key, a value that is not
// permitted, and an entry of the wrong form.
std::vector<Variation> variations(const SweepList& list);

// Converts a name to a folder name: characters other than letters, digits, '-', '_', '.' and '=' become '_'.
std::string folder_name(const std::string& name);

}  // namespace geosft
