// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/variations.h"

#include <cctype>

#include "tools/experiment/arguments.h"

namespace geosft {
namespace {

struct Assignment {
  std::string key;
  std::vector<std::string> values;
};

// Splits at commas outside brackets: [1,2] is one value.
std::vector<std::string> values_of(const std::string& text) {
  std::vector<std::string> values;
  int depth = 0;
  bool begins = true;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    const bool separates = c == ',' && depth == 0;
    if (begins) values.emplace_back();
    if (!separates) values.back() += c;
    begins = separates;
  }
  return values;
}

// Splits "A+KEY=B" into A and "KEY=B". A plus without a following KEY=VALUE belongs to the value.
std::vector<std::string> parts_of(const std::string& value) {
  std::vector<std::string> parts = {""};
  for (size_t i = 0; i < value.size(); ++i) {
    const size_t next = value.find('+', i + 1), equals = value.find('=', i + 1);
    if (value[i] == '+' && equals < next) {
      parts.emplace_back();
    } else {
      parts.back() += value[i];
    }
  }
  return parts;
}

Assignment assignment_of(const std::string& entry) {
  const size_t equals = entry.find('=');
  if (equals == 0 || equals == std::string::npos) {
    throw UsageError("expected KEY=VALUE,VALUE or KEY=VALUE, found '" + entry + "'");
  }
  Assignment found{entry.substr(0, equals), values_of(entry.substr(equals + 1))};
  if (found.values.empty()) throw UsageError("expected a value in '" + entry + "'");
  return found;
}

void assign(GraphSettings& settings, const std::string& key, const std::string& value) {
  const std::vector<std::string> parts = parts_of(value);
  Config config = settings.config();
  config.assign(key, parts.front());
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t equals = parts[i].find('=');
    config.assign(parts[i].substr(0, equals), parts[i].substr(equals + 1));
  }
}

std::vector<Variation> configured(const std::vector<std::filesystem::path>& files) {
  if (files.empty()) return {{"", {}}};
  std::vector<Variation> all;
  for (const std::filesystem::path& file : files) {
    Variation variation{file.stem().string(), {}};
    variation.settings.config().load_toml(file);
    all.push_back(variation);
  }
  return all;
}

void set_all(GraphSettings& settings, const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) {
    const Assignment assignment = assignment_of(entry);
    if (assignment.values.size() != 1) throw UsageError("expected one value in '" + entry + "'");
    assign(settings, assignment.key, assignment.values.front());
  }
}

void add_name(Variation& variation, const std::string& name) {
  variation.name += (variation.name.empty() ? "" : " ") + name;
}

// Returns each of `before` with every change.
std::vector<Variation> changed(const std::vector<Variation>& before, const std::vector<NamedChange>& changes) {
  std::vector<Variation> all;
  for (const Variation& from : before) {
    for (const NamedChange& change : changes) {
      Variation variation = from;
      add_name(variation, change.name);
      set_all(variation.settings, change.set);
      all.push_back(variation);
    }
  }
  return all;
}

// Returns each of `before` with every value.
std::vector<Variation> varied(const std::vector<Variation>& before, const Assignment& assignment) {
  std::vector<Variation> all;
  for (const Variation& from : before) {
    for (const std::string& value : assignment.values) {
      Variation variation = from;
      assign(variation.settings, assignment.key, value);
      add_name(variation, assignment.key + "=" + value);
      all.push_back(variation);
    }
  }
  return all;
}

}  // namespace

std::vector<Variation> variations(const SweepList& list) {
  std::vector<Variation> all = configured(list.configs);
  for (Variation& variation : all) set_all(variation.settings, list.set);
  if (!list.variations.empty()) all = changed(all, list.variations);
  for (const std::string& entry : list.vary) all = varied(all, assignment_of(entry));
  for (const Variation& variation : all) variation.settings.check();
  return all;
}

std::string folder_name(const std::string& name) {
  std::string safe;
  for (const char c : name) {
    const bool kept =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string("-_.=").find(c) != std::string::npos;
    safe += kept ? c : '_';
  }
  return safe.empty() ? "run" : safe;
}

}  // namespace geosft
