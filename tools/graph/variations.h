// SPDX-License-Identifier: Apache-2.0
// The configurations of a sweep.
#pragma once

#include <string>
#include <vector>

#include "tools/graph/graph_settings.h"
#include "tools/graph/sweep_list.h"

namespace geosft {

struct Variation {
  std::string name;  // "mutag score=dot relative=false"
  GraphSettings settings;
};

// Every configuration of the list, with its `set` laid over it, then each of its named changes, then every combination
// of the values of `vary`, of which one may bring others along ("attention=sampling+positions=relative,softmax"); lists
// stand in brackets ("pool=[1,2],[2,4]"). Throws UsageError naming file or entry for an unknown key, a value that is
// not permitted, and an entry of another form.
std::vector<Variation> variations(const SweepList& list);

// The name as that of a folder: letters, digits, '-', '_', '.' and '=', others as '_'.
std::string folder_name(const std::string& name);

}  // namespace geosft
