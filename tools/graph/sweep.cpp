// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/sweep.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <sstream>

#include "data/atomic_file.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/key_names.h"
#include "tools/experiment/toml_document.h"

namespace geosft {
namespace {

class ListReader {
 public:
  explicit ListReader(const std::filesystem::path& file) : file_(file), source_(file.string()) {}

  SweepList read() const {
    SweepList list;
    for (const auto& [key, node] : parse_toml(read_toml_text(file_), source_)) {
      const std::string name(key.str());
      if (name == "configs") {
        for (const std::string& path : texts(name, node)) list.configs.push_back(file_.parent_path() / path);
      } else if (name == "set") {
        list.set = texts(name, node);
      } else if (name == "vary") {
        list.vary = texts(name, node);
      } else if (name == "variations") {
        list.variations = changes(node);
      } else {
        refuse(name, node, {"configs", "set", "vary", "variations"});
      }
    }
    return list;
  }

 private:
  [[noreturn]] void refuse(const std::string& key, const toml::node& node,
                           const std::vector<std::string>& known) const {
    fail_toml(source_, node, "unknown key '" + key + "'" + nearest_hint(key, known));
  }

  [[noreturn]] void expect(const std::string& what, const toml::node& node) const {
    fail_toml(source_, node, "expected " + what + ", found " + (node.is_table() ? "a table" : toml_text(node)));
  }

  std::vector<std::string> texts(const std::string& key, const toml::node& node) const {
    const std::string expected = "a list of texts as '" + key + "'";
    const toml::array* list = node.as_array();
    if (!list) expect(expected, node);
    std::vector<std::string> all;
    for (const toml::node& element : *list) {
      if (!element.is_string()) expect(expected, element);
      all.push_back(element.as_string()->get());
    }
    return all;
  }

  std::vector<NamedChange> changes(const toml::node& node) const {
    const toml::array* list = node.as_array();
    if (!list) expect("tables [[variations]]", node);
    std::vector<NamedChange> all;
    for (const toml::node& element : *list) {
      if (!element.is_table()) expect("tables [[variations]]", element);
      all.push_back(change(*element.as_table()));
    }
    return all;
  }

  NamedChange change(const toml::table& table) const {
    NamedChange found;
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (name == "set") {
        found.set = texts(name, node);
      } else if (name == "name") {
        found.name = node.value_or(std::string());
      } else {
        refuse(name, node, {"name", "set"});
      }
    }
    if (found.name.empty()) fail_toml(source_, table, "expected a text as 'name' of a variation, found none");
    return found;
  }

  const std::filesystem::path& file_;
  std::string source_;
};

}  // namespace

SweepList read_sweep_list(const std::filesystem::path& file) {
  return ListReader(file).read();
}

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

std::vector<Variation> configured(const SweepList& list) {
  if (list.configs.empty()) {
    Variation one;
    if (!list.preset.empty()) one.settings.config().set_text(list.preset);
    return {one};
  }
  std::vector<Variation> all;
  for (const std::filesystem::path& file : list.configs) {
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

std::set<std::string> keys_of(const SweepList& list) {
  std::vector<std::string> entries = list.set;
  entries.insert(entries.end(), list.vary.begin(), list.vary.end());
  for (const NamedChange& change : list.variations) entries.insert(entries.end(), change.set.begin(), change.set.end());
  std::set<std::string> keys;
  for (const std::string& entry : entries) {
    const Assignment assignment = assignment_of(entry);
    keys.insert(current_key(assignment.key));
    for (const std::string& value : assignment.values) {
      const std::vector<std::string> parts = parts_of(value);
      for (size_t i = 1; i < parts.size(); ++i) keys.insert(current_key(parts[i].substr(0, parts[i].find('='))));
    }
  }
  return keys;
}

std::vector<Variation> variations(const SweepList& list) {
  std::vector<Variation> all = configured(list);
  for (Variation& variation : all) set_all(variation.settings, list.set);
  if (!list.variations.empty()) all = changed(all, list.variations);
  for (const std::string& entry : list.vary) all = varied(all, assignment_of(entry));
  for (const Variation& variation : all) variation.settings.check();
  return all;
}

std::string used_settings(const GraphSettings& settings) {
  GraphSettings copy = settings;
  if (copy.molecules.vector().fingerprints.empty()) {  // nothing sees those that are named
    copy.molecules.fingerprint = "none";
    copy.molecules.head_fingerprints = true;
  }
  std::set<std::string> unused;
  for (const KeyUse& use : copy.key_uses()) {
    if (!use.used) unused.insert(use.keys.begin(), use.keys.end());
  }
  std::istringstream lines(copy.config().to_toml());
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (!unused.contains(line.substr(0, line.find(' ')))) text += line + "\n";
  }
  return text;
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

namespace {

using Scores = std::map<int64_t, double>;  // by epoch

Scores scores_of(const std::vector<MetricsRow>& rows, const std::string& split) {
  Scores scores;
  for (const MetricsRow& row : rows) {
    if (row.split == split && !std::isnan(row.score)) scores[row.epoch] = row.score;
  }
  return scores;
}

}  // namespace

Curve mean_learning_curve(const std::string& name, const std::vector<std::filesystem::path>& metrics) {
  std::vector<std::vector<MetricsRow>> runs;
  for (const std::filesystem::path& file : metrics) runs.push_back(read_metrics(file));
  Curve curve{name, {}, {}};
  for (const char* split : {"validation", "test", "train"}) {
    std::map<int64_t, std::vector<double>> by_epoch;
    for (const std::vector<MetricsRow>& rows : runs) {
      for (const auto& [epoch, score] : scores_of(rows, split)) by_epoch[epoch].push_back(score);
    }
    for (const auto& [epoch, scores] : by_epoch) {
      if (scores.size() < runs.size()) continue;
      double sum = 0;
      for (const double score : scores) sum += score;
      curve.x.push_back(static_cast<double>(epoch));
      curve.y.push_back(sum / static_cast<double>(scores.size()));
    }
    if (!curve.x.empty()) break;
  }
  return curve;
}

PlotResult leave_learning_curves(const std::vector<Curve>& curves, const ScoreStyle& style,
                                 const std::filesystem::path& stem) {
  std::vector<Curve> drawn, best;
  for (const Curve& curve : curves) {
    if (curve.x.empty()) continue;
    drawn.push_back(curve);
    best.push_back(best_so_far(curve, style.lower_is_better));
  }
  if (drawn.empty()) return {false, "no epoch has a score in every run"};
  write_file_atomically(std::filesystem::path(stem) += ".csv", curves_csv("epoch", style.name, drawn));
  return plot_curves({{{"by epoch", "epoch", style.name}, drawn}, {{"best so far", "epoch", style.name}, best}}, stem);
}

}  // namespace geosft
