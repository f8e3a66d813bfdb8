// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/table_labels.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "data/cache_folder.h"
#include "data/data_error.h"
#include "data/formats/text_lines.h"
#include "data/graphs/graph_dataset.h"
#include "data/read_file.h"

namespace geosft {
namespace {

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

// Returns whether a field says that its label is not known.
bool is_unknown(const std::string& text) {
  static const std::set<std::string> words = {"", "nan", "na", "n/a", "#n/a", "none", "null", "-"};
  return words.contains(lower_case(trimmed(text)));
}

// Parses a label: NaN if it is unknown, nothing if it is not a number.
std::optional<float> parse_label(const std::string& text) {
  if (is_unknown(text)) return unknown;
  const std::string word = lower_case(trimmed(text));
  if (word == "true" || word == "false") return word == "true" ? 1.0F : 0.0F;
  const std::optional<double> value = parse_number(word);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return static_cast<float>(*value);
}

// Returns whether a text that is no label is a number with something about it: ">5", "3.2 %", "1,5" or "inf".
bool resembles_number(const std::string& text) {
  std::string_view word = trimmed(text);
  word.remove_prefix(std::min(word.find_first_not_of("<>=~ "), word.size()));
  while (!word.empty() && (word.back() == '%' || word.back() == ' ')) word.remove_suffix(1);
  std::string number = lower_case(word);
  std::replace(number.begin(), number.end(), ',', '.');
  return parse_number(number).has_value();
}

// A column of numbers, with its distinct known values: at most six of them, which suffice to tell the kinds apart.
struct LabelColumn {
  static constexpr size_t max_distinct = 6;

  std::string name;
  std::vector<float> values;
  std::set<float> distinct;

  bool constant() const { return distinct.size() < 2; }
  bool two_valued() const { return distinct.size() <= 2; }
  bool zero_or_one() const {
    return std::all_of(distinct.begin(), distinct.end(), [](float value) { return value == 0 || value == 1; });
  }
  // Returns whether the values are three to five whole numbers, each of them, on average, in many rows.
  bool may_be_classes() const {
    constexpr size_t rows_of_each = 5;
    return distinct.size() > 2 && distinct.size() < max_distinct && values.size() >= rows_of_each * distinct.size() &&
           std::all_of(distinct.begin(), distinct.end(), [](float value) { return value == std::floor(value); });
  }
  // Returns whether every row has the number of the row before plus 1.
  bool running_index() const {
    for (size_t row = 1; row < values.size(); ++row) {
      if (values[row] != values[row - 1] + 1) return false;
    }
    return values.size() > 2;
  }
};

// A column read as numbers, and what in it is none.
struct ReadColumn {
  LabelColumn numbers;                          // NaN where the text is no number
  std::optional<size_t> text_row;               // the first row with a text that is no number
  size_t known = 0, resembling = 0, texts = 0;  // rows with a number; with a text that resembles_number; with another

  // Returns whether the column is meant as numbers, although it has texts.
  bool meant_as_numbers() const { return text_row && known + resembling >= 4 * texts; }
};

ReadColumn read_column(const TextTable& table, size_t column) {
  ReadColumn out;
  out.numbers.name = table.names[column];
  const std::vector<std::string>& texts = table.columns[column];
  out.numbers.values.reserve(texts.size());
  for (size_t row = 0; row < texts.size(); ++row) {
    const std::optional<float> value = parse_label(texts[row]);
    out.numbers.values.push_back(value.value_or(unknown));
    if (!value) {
      ++(resembles_number(texts[row]) ? out.resembling : out.texts);
      if (!out.text_row) out.text_row = row;
    } else if (!std::isnan(*value)) {
      ++out.known;
      if (out.numbers.distinct.size() < LabelColumn::max_distinct) out.numbers.distinct.insert(*value);
    }
  }
  return out;
}

std::string shown_field(const std::string& text) {
  constexpr size_t longest = 40;
  return "\"" + text.substr(0, longest) + (text.size() > longest ? "…\"" : "\"");
}

// Throws DataError for the first text of a column.
[[noreturn]] void refuse_text(const TextTable& table, size_t column, const ReadColumn& read) {
  const size_t row = *read.text_row;
  std::string expected = "a number in column \"" + table.names[column] + "\"";
  if (read.meant_as_numbers()) {
    expected += ", which has " + std::to_string(read.known) + " numbers, and " +
                std::to_string(read.resembling + read.texts) +
                (read.resembling + read.texts == 1 ? " text" : " texts") +
                " (a number is 1234.5; an empty field, NA, None, null or - is an unknown label; --label-columns "
                "names the columns to learn)";
  }
  throw DataError(table.place(row), expected, shown_field(table.columns[column][row]));
}

std::string number_text(float number) {
  std::ostringstream text;
  text.precision(std::numeric_limits<float>::max_digits10);
  text << number;
  return text.str();
}

std::string quoted_list(const std::vector<std::string>& names) {
  constexpr size_t shown = 12;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), shown); ++i) text += (i == 0 ? "\"" : ", \"") + names[i] + "\"";
  return names.size() > shown ? text + ", …" : text;
}

std::string names_of(const std::vector<LabelColumn>& columns, bool two_valued) {
  std::vector<std::string> names;
  for (const LabelColumn& column : columns) {
    if (column.two_valued() == two_valued) names.push_back(column.name);
  }
  return quoted_list(names);
}

// Returns 1 for the larger one of two values, 0 for the other one.
at::Tensor two_values(const at::Tensor& values, float one) {
  return at::where(values.isnan(), values, values.eq(one).to(at::kFloat));
}

// Returns the labels of columns of numbers. `named` says that the user chose the columns.
TableLabels number_labels(const TextTable& table, const std::vector<LabelColumn>& columns, bool named) {
  TableLabels out;
  std::set<std::string> names;
  for (const LabelColumn& column : columns) {
    if (names.insert(column.name).second) continue;
    throw DataError(table.names_place(), "labels of different names", "two of \"" + column.name + "\"");
  }
  const auto two_valued = static_cast<size_t>(
      std::count_if(columns.begin(), columns.end(), [](const LabelColumn& column) { return column.two_valued(); }));
  if (two_valued > 0 && two_valued < columns.size() && !named) {
    throw DataError(table.names_place(), "labels of one kind, or the ones to learn by --label-columns",
                    "columns of two values, " + names_of(columns, true) + ", and of more, " + names_of(columns, false));
  }
  const bool classes = two_valued == columns.size();
  out.task = classes ? GraphTask::multi_label : GraphTask::regression;
  bool all_plain = true;  // 0 and 1
  std::vector<at::Tensor> targets;
  for (const LabelColumn& column : columns) {
    out.names.push_back(column.name);
    at::Tensor values = at::tensor(column.values);
    const bool plain = !classes || column.zero_or_one();
    out.values.push_back(plain ? 0 : *column.distinct.begin());
    out.values.push_back(plain ? 1 : *column.distinct.rbegin());
    all_plain = all_plain && plain;
    targets.push_back(plain ? values : two_values(values, out.values.back()));
  }
  if (all_plain) out.values.clear();
  out.target = at::stack(targets, 1);
  for (size_t row = 0; row < table.lines.size(); ++row) out.rows.push_back(static_cast<int64_t>(row));
  const bool constant =
      std::all_of(columns.begin(), columns.end(), [](const LabelColumn& column) { return column.constant(); });
  out.note = (columns.size() == 1 ? "label " : "labels ") + quoted_list(out.names) +
             (constant  ? ", of one value"
              : classes ? ", of two values: classification"
                        : ", numbers: regression");
  if (!classes && two_valued > 0) {
    out.note += "; " + names_of(columns, true) + (two_valued == 1 ? " has" : " have") +
                " one or two values, learned as numbers because of the others";
  }
  for (const LabelColumn& column : columns) {
    if (classes && column.constant() && !constant) out.note += "; \"" + column.name + "\" has one value alone";
  }
  for (const LabelColumn& column : columns) {
    if (classes || !column.may_be_classes()) continue;
    out.note += "; \"" + column.name + "\" has " + std::to_string(column.distinct.size()) +
                " values: to learn them as classes, write words in place of the numbers, such as \"class " +
                number_text(*column.distinct.begin()) + "\", and name the column by --label-columns";
  }
  return out;
}

// Returns what a note says of rows without a class.
std::string left_out_rows(size_t count) {
  if (count == 0) return "";
  return "; " + std::to_string(count) + (count == 1 ? " row without a class is" : " rows without a class are") +
         " left out (an empty field, NA, None, null or -)";
}

// Returns the classes of a column of texts.
TableLabels text_labels(const TextTable& table, size_t column) {
  TableLabels out;
  const std::vector<std::string>& texts = table.columns[column];
  std::map<std::string, int64_t> numbers;
  for (const std::string& text : texts) {
    if (!is_unknown(text)) numbers.emplace(text, 0);
  }
  for (auto& [name, number] : numbers) {
    number = static_cast<int64_t>(out.names.size());
    out.names.push_back(name);
  }
  if (2 * numbers.size() > texts.size()) {
    throw DataError(table.names_place(), "numbers or classes in column \"" + table.names[column] + "\"",
                    std::to_string(numbers.size()) + " texts in " + std::to_string(texts.size()) + " rows");
  }
  std::vector<int64_t> classes;
  for (size_t row = 0; row < texts.size(); ++row) {
    if (is_unknown(texts[row])) continue;
    out.rows.push_back(static_cast<int64_t>(row));
    classes.push_back(numbers.at(texts[row]));
  }
  out.task = GraphTask::classification;
  out.target = at::tensor(classes, at::kLong);
  out.note = "label \"" + table.names[column] + "\", texts: classification, classes " + quoted_list(out.names) +
             left_out_rows(texts.size() - out.rows.size());
  return out;
}

TableLabels named_labels(const TextTable& table, const std::vector<std::string>& names) {
  std::vector<LabelColumn> columns;
  std::set<size_t> named;
  for (const std::string& name : names) {
    const size_t column = column_named(table, name);
    if (!named.insert(column).second) {
      throw DataError("--label-columns", "each column once", "\"" + name + "\" again");
    }
    ReadColumn read = read_column(table, column);
    if (read.text_row) {
      if (names.size() == 1 && !read.meant_as_numbers()) return text_labels(table, column);
      refuse_text(table, column, read);
    }
    if (read.numbers.distinct.empty()) {
      throw DataError(table.file, "a known label in column \"" + name + "\"", "none");
    }
    columns.push_back(std::move(read.numbers));
  }
  return number_labels(table, columns, /*named=*/true);
}

// Returns the labels of a trained model in its column. They have the numbers that it was trained on; of one that was
// trained on 0 and 1, or does not tell, two others also stand for these.
at::Tensor known_labels(const TextTable& table, const LabelColumn& column, const ItemSchema& known) {
  const at::Tensor values = at::tensor(column.values);
  const std::string expected = " in column \"" + column.name + "\", as trained on";
  if (known.label_values.empty()) {
    if (column.zero_or_one()) return values;
    if (column.distinct.size() == 2) return two_values(values, *column.distinct.rbegin());
    throw DataError(table.file, "0 and 1, or two values," + expected,
                    column.constant() ? "only " + number_text(*column.distinct.begin()) : "more values");
  }
  const auto place = std::find(known.output_names.begin(), known.output_names.end(), column.name);
  const auto first = static_cast<size_t>(2 * (place - known.output_names.begin()));
  const float zero = known.label_values.at(first), one = known.label_values.at(first + 1);
  for (const float value : column.distinct) {
    if (value == zero || value == one) continue;
    throw DataError(table.file, number_text(zero) + " and " + number_text(one) + expected, number_text(value));
  }
  return two_values(values, one);
}

// Returns the columns of numbers that are the outputs of a trained model; their numbers are unknown where a column is
// absent.
TableLabels known_number_labels(const TextTable& table, const ItemSchema& known) {
  TableLabels out;
  out.task = known.task;
  out.names = known.output_names;
  std::vector<std::string> absent;
  std::string taken_for;
  std::vector<at::Tensor> targets;
  for (const std::string& name : known.output_names) {
    const std::optional<size_t> column = find_column(table, name);
    if (!column) {
      absent.push_back(name);
      targets.push_back(at::full({static_cast<int64_t>(table.lines.size())}, unknown));
      continue;
    }
    const ReadColumn read = read_column(table, *column);
    if (read.text_row) refuse_text(table, *column, read);
    if (has_labels(known.task) && known.label_values.empty() && !read.numbers.zero_or_one()) {
      taken_for += "; \"" + name + "\" has " + number_text(*read.numbers.distinct.begin()) + " and " +
                   number_text(*read.numbers.distinct.rbegin()) + ", taken for 0 and 1";
    }
    targets.push_back(has_labels(known.task) ? known_labels(table, read.numbers, known)
                                             : at::tensor(read.numbers.values));
  }
  out.target = at::stack(targets, 1);
  out.values = known.label_values;
  for (size_t row = 0; row < table.lines.size(); ++row) out.rows.push_back(static_cast<int64_t>(row));
  out.note = "labels of the trained model, " + quoted_list(out.names) + taken_for;
  if (!absent.empty()) out.note += "; no column of this table, and so unknown: " + quoted_list(absent);
  return out;
}

// Returns the classes of a trained model in a column of texts.
TableLabels known_text_labels(const TextTable& table, size_t column, const ItemSchema& known) {
  TableLabels out;
  out.task = known.task;
  out.names = known.output_names;
  std::vector<int64_t> classes;
  const std::vector<std::string>& texts = table.columns[column];
  for (size_t row = 0; row < texts.size(); ++row) {
    const auto place = std::find(out.names.begin(), out.names.end(), texts[row]);
    if (place == out.names.end()) {
      if (is_unknown(texts[row])) continue;
      throw DataError(
          table.place(row),
          "a class of the trained model, " + quoted_list(out.names) + ", in column \"" + table.names[column] + "\"",
          shown_field(texts[row]));
    }
    out.rows.push_back(static_cast<int64_t>(row));
    classes.push_back(place - out.names.begin());
  }
  out.target = at::tensor(classes, at::kLong);
  out.note = "label \"" + table.names[column] + "\", classes of the trained model, " + quoted_list(out.names) +
             left_out_rows(texts.size() - out.rows.size());
  return out;
}

// Returns whether a column holds names of molecules, when they were measured, or a remark, by its own name.
bool names_no_label(const std::string& name) {
  static const std::set<std::string> other = {"",           "id",   "index", "identifier",
                                              "unnamed: 0", "date", "split", "comment"};
  const std::string word = lower_case(name);
  const bool is_camel = name.size() > 2 && (name.ends_with("ID") || name.ends_with("Id")) &&
                        std::islower(static_cast<unsigned char>(name[name.size() - 3])) != 0;  // MolID
  return is_camel || other.contains(word) || word.ends_with("_id") || word.ends_with(" id") || word.ends_with("-id");
}

// Returns whether texts are two to ten classes, each of them, on average, in many rows.
bool may_be_classes(const std::vector<std::string>& texts) {
  constexpr size_t max_classes = 10, rows_of_each = 5;
  const std::set<std::string> distinct(texts.begin(), texts.end());
  const size_t classes = distinct.size() - distinct.count("");
  return classes >= 2 && classes <= max_classes && texts.size() >= rows_of_each * classes;
}

// Returns why a column is no label: "texts, as \"CHEMBL14\" in line 2"; empty if it is one. `of_smiles`: another column
// of the table has the SMILES of the rows.
std::string no_label_reason(const TextTable& table, bool of_smiles, size_t column, const ReadColumn& read) {
  if (lower_case(table.names[column]) == "split") return "by its name: rows of train, valid and test, or nothing";
  if (names_no_label(table.names[column])) return "by its name";
  if (read.text_row) {
    if (of_smiles && holds_smiles(table.columns[column])) {
      return "SMILES, too: --smiles-column learns from these instead";
    }
    const size_t row = *read.text_row;
    const std::string place = table.files.empty() ? "line " + std::to_string(table.lines[row]) : table.place(row);
    const std::string texts = "texts, as " + shown_field(table.columns[column][row]) + " in " + place;
    return may_be_classes(table.columns[column]) ? texts + "; classes to learn by --label-columns" : texts;
  }
  if (read.numbers.distinct.empty()) return "no value";
  if (read.numbers.constant()) return "one value";
  if (read.numbers.running_index()) return "the numbers of the rows";
  return {};
}

TableLabels found_labels(const TextTable& table, std::optional<size_t> smiles) {
  constexpr size_t shown = 12;
  std::vector<LabelColumn> columns;
  std::string left_out;
  size_t count = 0;
  for (size_t column = 0; column < table.names.size(); ++column) {
    if (column == smiles) continue;
    ReadColumn read = read_column(table, column);
    if (read.meant_as_numbers() && !names_no_label(table.names[column])) refuse_text(table, column, read);
    const std::string reason = no_label_reason(table, smiles.has_value(), column, read);
    if (reason.empty()) {
      columns.push_back(std::move(read.numbers));
    } else if (++count <= shown) {
      left_out += (count == 1 ? "\"" : ", \"") + table.names[column] + "\" (" + reason + ")";
    }
  }
  if (count > shown) left_out += ", …";
  if (columns.empty()) {
    throw DataError(
        table.names_place(),
        smiles ? "a column of numbers to learn, or its name by --label-columns"
               : "KEY=NUMBER in the comments to learn, such as energy=-40.5, which --label-columns energy names",
        (smiles ? "none beside column \"" + table.names[*smiles] + "\"" : std::string("none")) +
            (left_out.empty() ? "" : "; left out: " + left_out));
  }
  TableLabels labels = number_labels(table, columns, /*named=*/false);
  if (!left_out.empty()) labels.note += "; left out: " + left_out;
  return labels;
}

// Returns the part of a split that a word stands for, in lower case; nullptr for another word.
std::vector<int64_t>* split_part(DatasetSplit& split, const std::string& word) {
  static const std::map<std::string, std::vector<int64_t> DatasetSplit::*> parts = {
      {"train", &DatasetSplit::train},      {"training", &DatasetSplit::train},
      {"valid", &DatasetSplit::validation}, {"validation", &DatasetSplit::validation},
      {"val", &DatasetSplit::validation},   {"dev", &DatasetSplit::validation},
      {"test", &DatasetSplit::test},        {"testing", &DatasetSplit::test},
  };
  const auto found = parts.find(word);
  return found == parts.end() ? nullptr : &(split.*found->second);
}

// Returns the split of the `kept` rows by a column "split"; nothing if there is no such column or one of them has
// another word. Where some have a word of a split, a warning says so.
std::optional<DatasetSplit> split_by_column(const TextTable& table, const std::vector<int64_t>& kept,
                                            std::vector<std::string>& warnings) {
  for (size_t column = 0; column < table.names.size(); ++column) {
    if (lower_case(table.names[column]) != "split") continue;
    DatasetSplit split;
    std::vector<size_t> others;  // rows
    for (const int64_t row : kept) {
      const std::string& text = table.columns[column][static_cast<size_t>(row)];
      const std::string word = lower_case(trimmed(text));
      std::vector<int64_t>* const part = split_part(split, word);
      if (part != nullptr) {
        part->push_back(row);
      } else {
        others.push_back(static_cast<size_t>(row));
      }
    }
    if (others.empty()) return split;
    if (others.size() < kept.size()) {
      warnings.push_back(table.place(others.front()) + ": column \"" + table.names[column] + "\" is not used, as " +
                         shown_field(table.columns[column][others.front()]) + " is none of train, valid and test");
    }
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

TableLabels table_labels(const TextTable& table, std::optional<size_t> smiles, const GraphReadOptions& options) {
  if (options.known && (has_labels(options.known->task) || options.known->task == GraphTask::regression)) {
    if (!is_of_nodes(options.known->task)) return known_number_labels(table, *options.known);
  }
  if (options.known && options.known->task == GraphTask::classification && options.label_columns.size() == 1) {
    return known_text_labels(table, column_named(table, options.label_columns.front()), *options.known);
  }
  return options.label_columns.empty() ? found_labels(table, smiles) : named_labels(table, options.label_columns);
}

std::optional<DatasetSplit> table_split(const TextTable& table, const std::vector<int64_t>& kept,
                                        const std::filesystem::path& folder, std::vector<std::string>& warnings) {
  const auto rows = static_cast<int64_t>(table.lines.size());
  const std::optional<DatasetSplit> split =
      folder.empty() ? split_by_column(table, kept, warnings)
                     : read_split({folder / "train.csv", folder / "valid.csv", folder / "test.csv"}, rows);
  if (!split) return std::nullopt;
  return restricted_split(*split, kept, rows);
}

PackedItems cached_with_labels(const GraphReadOptions& options, std::string id, std::string key,
                               const std::function<PackedItems()>& make) {
  for (const std::string& name : options.label_columns) id += "\n" + name;
  key += "\n" + id;
  if (!options.split_folder.empty()) key += "\n" + contents_key(files_below({options.split_folder}));
  if (options.known) {
    // Most often the training has stored what it found in the table, which is as good where it has the same outputs.
    std::optional<PackedItems> found = stored_graphs(options, id, key);
    if (found && found->schema.task == options.known->task &&
        found->schema.output_names == options.known->output_names &&
        found->schema.label_values == options.known->label_values) {
      return std::move(*found);
    }
    id += std::string("\nof a model\n") + task_name(options.known->task);
    for (const std::string& name : options.known->output_names) id += "\n" + name;
    for (const float value : options.known->label_values) id += "\n" + number_text(value);
    key += "\n" + id;
  }
  return cached_graphs(options, id, key, make);
}

}  // namespace geosft
