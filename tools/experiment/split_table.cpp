// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/split_table.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "data/data_error.h"
#include "data/formats/text_lines.h"
#include "data/read_file.h"
#include "data/safe_join.h"
#include "tools/experiment/input_files.h"

namespace geosft {
namespace {

constexpr const char* heading = "split,item,name,label\n";
constexpr const char* heading_without_labels = "split,item,name\n";  // of earlier versions
constexpr size_t max_shown = 60;                                     // letters of a name in messages

// Splits a table into the fields of its lines; between quotes, fields may have commas, line breaks and doubled quotes.
std::vector<std::vector<std::string>> fields_of(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> line;
  std::string field;
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == '"') {
      const bool doubled = quoted && at + 1 < text.size() && text[at + 1] == '"';
      if (doubled) {
        field += text[++at];
      } else {
        quoted = !quoted;
      }
    } else if (!quoted && (letter == ',' || letter == '\n')) {
      line.push_back(std::exchange(field, {}));
      if (letter == '\n') lines.push_back(std::exchange(line, {}));
    } else {
      field += letter;
    }
  }
  return lines;
}

// Removes the folder that all names begin with, if they are paths: data may have moved.
void leave_out_common_folder(std::vector<SplitRow>& rows) {
  if (rows.empty()) return;
  size_t common = rows.front().name.rfind('/');
  common = common == std::string::npos ? 0 : common + 1;
  for (const SplitRow& row : rows) {
    while (common > 0 && row.name.compare(0, common, rows.front().name, 0, common) != 0) {
      const size_t slash = common < 2 ? std::string::npos : rows.front().name.rfind('/', common - 2);
      common = slash == std::string::npos ? 0 : slash + 1;
    }
  }
  for (SplitRow& row : rows) row.name.erase(0, common);
}

bool comes_before(const SplitRow& a, const SplitRow& b) {
  return std::tie(a.item, a.split, a.name) < std::tie(b.item, b.split, b.name);
}

// Compares texts, each of which may be unknown: empty.
bool agree(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() || a == b;
}

bool is_same_item(const SplitRow& a, const SplitRow& b) {
  return a.item == b.item && a.split == b.split && agree(a.name, b.name);
}

// Returns the class, or each of the targets, of a label: numbers with semicolons between them.
std::vector<std::string> targets_of(const std::string& label) {
  std::vector<std::string> targets(1);
  for (const char letter : label) {
    if (letter == ';') {
      targets.emplace_back();
    } else {
      targets.back() += letter;
    }
  }
  const auto is_target = [](const std::string& text) { return text.empty() || parse_number(text).has_value(); };
  return std::ranges::all_of(targets, is_target) ? targets : std::vector<std::string>{label};
}

bool has_same_label(const SplitRow& a, const SplitRow& b) {
  if (agree(a.label, b.label)) return true;
  return std::ranges::equal(targets_of(a.label), targets_of(b.label), agree);
}

bool is_same(const SplitRow& a, const SplitRow& b) {
  return is_same_item(a, b) && has_same_label(a, b);
}

// Returns "'CCO'", of a long name the beginning.
std::string shown_name(const std::string& full) {
  std::string name = full.size() > max_shown ? full.substr(0, max_shown) + "…" : full;
  std::ranges::replace(name, '\n', ' ');
  return "'" + name + "'";
}

// Returns "'CCO' of the train split".
std::string row_text(const SplitRow& row) {
  return (row.name.empty() ? "" : shown_name(row.name) + " ") + "of the " + row.split + " split";
}

// Returns "had the label 'dog' and has 'cat'", of one of several targets with its number.
std::string label_difference(const std::string& before, const std::string& now) {
  const std::vector<std::string> had = targets_of(before), has = targets_of(now);
  if (had.size() != has.size()) {
    return "had " + std::to_string(had.size()) + " targets and has " + std::to_string(has.size());
  }
  size_t at = 0;
  while (agree(had[at], has[at])) ++at;
  return "had the label " + shown_name(had[at]) + " and has " + shown_name(has[at]) +
         (had.size() > 1 ? " as target " + std::to_string(at + 1) + " of " + std::to_string(had.size()) : "");
}

// Says what the first row is that differs; empty if all are the same. Both are in order.
std::string first_difference(const std::vector<SplitRow>& recorded, const std::vector<SplitRow>& rows) {
  const size_t shorter = std::min(recorded.size(), rows.size());
  size_t at = 0;
  while (at < shorter && is_same(recorded[at], rows[at])) ++at;
  if (at == shorter && recorded.size() == rows.size()) return "";
  const SplitRow* const before = at < recorded.size() ? &recorded[at] : nullptr;
  const SplitRow* const now = at < rows.size() ? &rows[at] : nullptr;
  if (before && now && is_same_item(*before, *now)) {
    return "item " + std::to_string(now->item) + ", " + row_text(*now) + ", " +
           label_difference(before->label, now->label);
  }
  const int64_t item = std::min(before ? before->item : now->item, now ? now->item : before->item);
  const auto text = [&](const SplitRow* row) { return row && row->item == item ? row_text(*row) : "absent"; };
  return "item " + std::to_string(item) + " was " + text(before) + " and is " + text(now);
}

// Says which names of the recorded rows no row has now, and which are new: "by name 'a' and 2 more are missing, and 'b'
// is new; ". Empty if neither is so, or if some rows have no name.
std::string names_text(const std::vector<SplitRow>& recorded, const std::vector<SplitRow>& rows) {
  const auto names_of = [](const std::vector<SplitRow>& of) {
    std::set<std::string> names;
    for (const SplitRow& row : of) names.insert(row.name);
    return names;
  };
  const std::set<std::string> before = names_of(recorded), now = names_of(rows);
  if (before.contains("") || now.contains("")) return "";
  const auto text = [](const std::set<std::string>& some, const std::set<std::string>& others, const char* what) {
    std::string first;
    size_t count = 0;
    for (const std::string& name : some) {
      if (!others.contains(name) && ++count == 1) first = shown_name(name);
    }
    if (count == 0) return std::string();
    return first + (count > 1 ? " and " + std::to_string(count - 1) + " more are " : " is ") + what;
  };
  const std::string missing = text(before, now, "missing"), added = text(now, before, "new");
  if (missing.empty() && added.empty()) return "";
  return "by name " + missing + (missing.empty() || added.empty() ? "" : ", and ") + added + "; ";
}

// Throws the error of require_recorded_split, unless the rows are the same.
void require_same(std::vector<SplitRow> recorded, std::vector<SplitRow> rows, const std::filesystem::path& file,
                  const std::string& data, const std::string& advice) {
  for (auto* const each : {&recorded, &rows}) {
    leave_out_common_folder(*each);
    std::ranges::sort(*each, comes_before);
  }
  const std::string differs = first_difference(recorded, rows);
  if (differs.empty()) return;
  const std::string sizes = recorded.size() == rows.size() ? ""
                                                           : std::to_string(rows.size()) + " items in place of " +
                                                                 std::to_string(recorded.size()) + "; ";
  throw DataError(data, "the data and the split that " + file.string() + " lists, which were trained on",
                  "others: " + sizes + names_text(recorded, rows) + differs + "; " + advice);
}

// Removes the recorded rows whose names no row has, if they are at most `count`, and numbers those that are left as the
// rows are.
void leave_out_absent(std::vector<SplitRow>& recorded, const std::vector<SplitRow>& rows, size_t count) {
  std::map<std::string, int64_t> item_of_name;
  for (const SplitRow& row : rows) item_of_name.emplace(row.name, row.item);
  std::vector<SplitRow> present;
  for (const SplitRow& row : recorded) {
    const auto item = item_of_name.find(row.name);
    if (item == item_of_name.end()) continue;
    present.push_back(row);
    present.back().item = item->second;
  }
  if (recorded.size() - present.size() <= count) recorded = std::move(present);
}

}  // namespace

std::string split_csv(const std::vector<SplitRow>& rows) {
  std::string text = rows.empty() ? "" : heading;
  for (const SplitRow& row : rows) text += csv_line({row.split, std::to_string(row.item), row.name, row.label});
  return text;
}

std::vector<SplitRow> read_split_rows(const std::filesystem::path& file) {
  std::vector<SplitRow> rows;
  if (!path_exists(file)) return rows;
  const std::string text = read_file(file);
  const bool labelled = text.starts_with(heading);
  if (!labelled && !text.starts_with(heading_without_labels)) {
    throw DataError(file.string(), "the columns split,item,name,label", "others");
  }
  const auto lines = fields_of(text);
  for (size_t line = 1; line < lines.size(); ++line) {
    SplitRow& row = rows.emplace_back();
    const auto bad = [&] {
      return DataError(
          file.string(),
          labelled ? "a split, a number, a name and a label in each row" : "a split, a number and a name in each row",
          "others in row " + std::to_string(line));
    };
    if (lines[line].size() != (labelled ? 4 : 3)) throw bad();
    const std::string& item = lines[line][1];
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), row.item);
    if (error != std::errc() || end != item.data() + item.size()) throw bad();
    row.split = lines[line][0];
    row.name = lines[line][2];
    if (labelled) row.label = lines[line][3];
  }
  return rows;
}

void require_recorded_split(const std::filesystem::path& file, std::vector<SplitRow> rows, const std::string& data,
                            const std::string& advice) {
  if (path_exists(file)) require_same(read_split_rows(file), std::move(rows), file, data, advice);
}

std::vector<std::string> require_recorded_items(const std::filesystem::path& file,
                                                const std::vector<std::string>& splits, std::vector<SplitRow> rows,
                                                const SplitAllowance& allowed, const std::string& data,
                                                const std::string& advice) {
  if (!path_exists(file)) return {};
  std::vector<SplitRow> recorded;
  for (SplitRow& row : read_split_rows(file)) {
    if (std::ranges::find(splits, row.split) != splits.end()) recorded.push_back(std::move(row));
  }
  if (allowed.absent > 0) leave_out_absent(recorded, rows, allowed.absent);
  std::vector<std::string> split_of_item(rows.size());
  for (const SplitRow& row : recorded) {
    if (row.item >= 0 && row.item < static_cast<int64_t>(rows.size())) {
      split_of_item[static_cast<size_t>(row.item)] = row.split;
    }
  }
  if (allowed.unlisted) {
    std::erase_if(rows, [&](const SplitRow& row) { return split_of_item.at(static_cast<size_t>(row.item)).empty(); });
  }
  for (auto* const each : {&recorded, &rows}) {
    for (SplitRow& row : *each) row.split = splits.front();
  }
  require_same(std::move(recorded), std::move(rows), file, data, advice);
  return split_of_item;
}

int64_t tested_training_items(const std::vector<SplitRow>& rows) {
  std::set<std::string> seen_before;
  for (const SplitRow& row : rows) {
    if (row.split != "test" && !row.name.empty()) seen_before.insert(row.name);
  }
  return std::count_if(rows.begin(), rows.end(),
                       [&](const SplitRow& row) { return row.split == "test" && seen_before.contains(row.name); });
}

int64_t known_training_items(const std::filesystem::path& file, const std::vector<std::string>& names) {
  std::vector<SplitRow> rows = read_split_rows(file);
  std::erase_if(rows, [](const SplitRow& row) { return row.split == "test"; });
  for (const std::string& name : names) rows.push_back({"test", 0, name});
  return tested_training_items(rows);
}

std::vector<std::pair<std::string, int64_t>> split_counts(const std::filesystem::path& file) {
  std::vector<std::pair<std::string, int64_t>> counts;
  for (const SplitRow& row : read_split_rows(file)) {
    const auto known = std::ranges::find(counts, row.split, &std::pair<std::string, int64_t>::first);
    if (known == counts.end()) {
      counts.emplace_back(row.split, 1);
    } else {
      ++known->second;
    }
  }
  return counts;
}

std::string split_counts_text(const std::vector<std::pair<std::string, int64_t>>& counts) {
  std::string text;
  for (const auto& [split, count] : counts) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + split;
  return text;
}

}  // namespace geosft
