// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/catalogue.h"

#include <algorithm>
#include <iterator>

#include "tools/experiment/arguments.h"
#include "tools/experiment/key_names.h"

namespace geosft::bench {
namespace {

bool begins(const std::string& name, const std::string& part) {
  return name == part || (name.rfind(part, 0) == 0 && name[part.size()] == '/');
}

// Returns the names and their prefixes.
std::vector<std::string> known_names(const Entries& all) {
  std::vector<std::string> names;
  for (const Entry& entry : all) {
    for (size_t slash = entry.name.find('/'); slash != std::string::npos; slash = entry.name.find('/', slash + 1)) {
      names.push_back(entry.name.substr(0, slash));
    }
    names.push_back(entry.name);
  }
  return names;
}

}  // namespace

void append_passes(Entries& entries, const Sizes& sizes, int64_t keys, const std::string& what,
                   const std::string& about, MakeBenchmark make) {
  for (const Pass pass : {Pass::forward, Pass::both}) {
    const std::string name = what + "/k" + std::to_string(keys) + "/" + pass_name(pass);
    entries.push_back({name, about, [=] { return make(sizes, keys, pass, name); }});
  }
}

Entries entries_by_keys(const Sizes& sizes, const std::string& what, const std::string& about, MakeBenchmark make) {
  Entries entries;
  for (const int64_t keys : sizes.keys) append_passes(entries, sizes, keys, what, about, make);
  return entries;
}

Entries all_entries(const Sizes& sizes) {
  Entries all;
  for (const auto entries :
       {attention_entries, polynomial_entries, relative_entries, graph_entries, primal_entries, sampling_entries,
        layer_entries, model_entries, neighbour_entries, encoding_entries, graph_encoding_entries, training_entries}) {
    Entries some = entries(sizes);
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

Entries chosen_entries(const Entries& all, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::any_of(all.begin(), all.end(), [&](const Entry& entry) { return begins(entry.name, name); })) continue;
    throw UsageError("no measurement '" + name + "'" + nearest_hint(name, known_names(all)) +
                     " (run --list names all)");
  }
  Entries chosen;
  std::copy_if(all.begin(), all.end(), std::back_inserter(chosen), [&](const Entry& entry) {
    return names.empty() ||
           std::any_of(names.begin(), names.end(), [&](const std::string& name) { return begins(entry.name, name); });
  });
  return chosen;
}

}  // namespace geosft::bench
