// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <limits>

#include "data/data_error.h"
#include "data/formats/point_columns.h"
#include "data/formats/text_lines.h"

namespace geosft {
namespace {

constexpr int64_t max_header_lines = 20;

// Splits a line into fields. Two delimiters with nothing between them enclose an empty field; quotes around a field are
// removed. Returns whether a delimiter follows the last field.
bool split_fields(std::string_view line, char delimiter, bool with_comment, std::vector<std::string_view>& fields) {
  fields.clear();
  size_t at = 0;
  bool ends_open = false;
  const auto skip_blanks = [&] {
    while (at < line.size() && is_blank(line[at])) ++at;
  };
  // "1.#QNAN" is a number to some C libraries.
  const auto is_end = [&] {
    return at >= line.size() || (with_comment && line[at] == '#' && !(at > 0 && line[at - 1] == '.'));
  };
  for (skip_blanks(); !is_end(); skip_blanks()) {
    size_t begin = at;
    if (line[at] == '"') {
      const size_t close = std::min(line.find('"', at + 1), line.size());
      fields.push_back(line.substr(at + 1, close - at - 1));
      at = std::min(close + 1, line.size());
    } else {
      while (!is_end() && !is_blank(line[at]) && line[at] != delimiter) ++at;
      fields.push_back(line.substr(begin, at - begin));
    }
    skip_blanks();
    ends_open = at < line.size() && line[at] == delimiter;
    if (ends_open) ++at;
  }
  return ends_open;
}

std::optional<double> number_of(std::string_view field, char delimiter) {
  if (delimiter != ';' || field.find(',') == std::string_view::npos) return parse_number(field);
  std::string text(field);
  text[text.find(',')] = '.';
  return parse_number(text);
}

class PointTable {
 public:
  PointTable(std::string_view text, const std::string& file, const std::string& columns)
      : file_(file), lines_(text, file), builder_(file, "line"), names_are_given_(!columns.empty()) {
    if (!names_are_given_) return;
    names_ = column_names(columns);
    if (!named_columns(names_)) throw DataError("--columns: " + columns_error(columns));
  }

  FileShape read() {
    while (lines_.next_raw()) {
      const std::string_view line = lines_.rest();
      if (line.empty()) continue;
      const char delimiter = line.find(';') == std::string_view::npos ? ',' : ';';
      if (line[0] == '#') {
        if (!rows_) take_names(line, delimiter);
        continue;
      }
      const bool ends_open = split_fields(line, delimiter, true, fields_);
      // The last field may be empty.
      if (ends_open && fields_.size() + 1 == (rows_ ? column_count_ : names_.size())) fields_.emplace_back();
      if (fields_.empty() || take_count()) continue;
      if (!rows_ && !begins_points(line, delimiter)) continue;
      if (delimiter == ',' && has_decimal_commas(line)) {
        lines_.fail_word("decimal points, or semicolons between numbers with decimal commas", line);
      }
      add_row(delimiter);
    }
    if (!rows_) fail_without_points();
    check_count();
    if (unannounced_ > 0) {
      builder_.add_warning("it has " + std::to_string(unannounced_) + (unannounced_ == 1 ? " point" : " points") +
                           " more than its header tells");
    }
    rows_->finish();
    return builder_.finish();
  }

 private:
  // PTS files tell the number of points before them, and again before those of another scan.
  bool take_count() {
    const std::optional<int64_t> count = fields_.size() == 1 ? parse_integer(fields_[0]) : std::nullopt;
    if (!count || (rows_ && count_ == 0)) return false;
    check_count();
    count_ = *count;
    since_count_ = 0;
    return true;
  }

  // Notes points beyond those announced.
  void check_count() {
    if (rows_ && since_count_ < count_) lines_.fail(std::to_string(count_) + " points", std::to_string(since_count_));
    if (rows_ && count_ > 0) unannounced_ += since_count_ - count_;
  }

  void take_names(std::string_view line, char delimiter) {
    if (names_are_given_) return;
    while (!line.empty() && (line[0] == '#' || line[0] == '/' || is_blank(line[0]))) line.remove_prefix(1);
    std::vector<std::string_view> names, with_blanks = column_names(line, delimiter);
    split_fields(line, delimiter, false, names);
    if (named_columns(with_blanks)) names = with_blanks;
    if (named_columns(names)) names_ = names;
    if (names_.empty() && line.find(delimiter) != std::string_view::npos) unknown_names_ = {line, names.size()};
  }

  // Returns false for a line of the header.
  bool begins_points(std::string_view line, char delimiter) {
    const std::optional<PointColumns> named = named_columns(names_);
    const bool by_name = named && names_.size() == fields_.size();
    if (names_are_given_ && !by_name && number_of(fields_[0], delimiter)) {
      lines_.fail(std::to_string(names_.size()) + " columns, as many as --columns names",
                  std::to_string(fields_.size()));
    }
    if (named && !by_name && !names_are_given_ && fields_.size() > 1 &&
        !(named->at[0] == 0 && named->at[1] == 1 && named->at[2] == 2)) {
      lines_.fail(std::to_string(names_.size()) + " columns, as many as names", std::to_string(fields_.size()));
    }
    columns_ = by_name ? *named : numbered_columns(fields_.size());
    if (names_.empty() && fields_.size() > 3 && unknown_names_.count == fields_.size() &&
        number_of(fields_[0], delimiter)) {
      throw DataError(file_, "names of columns with x, y and z among them, or --columns, such as x,y,z,r,g,b",
                      "\"" + std::string(unknown_names_.line.substr(0, 60)) + "\"");
    }
    bool is_point = true;
    for (size_t axis = 0; axis < 3; ++axis) {
      const size_t column = columns_.at[axis];
      is_point = is_point && column < fields_.size() && number_of(fields_[column], delimiter);
    }
    // A line of numbers alone is a point, if a broken one.
    const bool first_is_number = number_of(fields_[0], delimiter).has_value();
    if (!is_point && !(first_is_number && !by_name)) {
      if (header_lines_++ == 0) {
        first_word_ = fields_[0];
        first_line_ = lines_.line_number();
        if (lower_case(first_word_) == "ncols") throw DataError(file_, "a cloud", "an Esri grid of heights");
      }
      if (header_lines_ > max_header_lines) fail_without_points();
      take_names(line, delimiter);
      return false;
    }
    if (fields_.size() < 3) lines_.fail("3 columns or more", std::to_string(fields_.size()));
    column_count_ = fields_.size();
    if (by_name) builder_.set_names(names_);
    rows_.emplace(columns_, column_count_, builder_);
    return true;
  }

  void add_row(char delimiter) {
    if (fields_.size() != column_count_) {
      lines_.fail(std::to_string(column_count_) + " columns as above", std::to_string(fields_.size()));
    }
    std::array<double, 6> value{};
    for (size_t i = 0; i < (columns_.has_normals ? size_t{6} : size_t{3}); ++i) {
      const std::string_view field = fields_[columns_.at[i]];
      const std::optional<double> number = number_of(field, delimiter);
      if (!number && i < 3) lines_.fail_word("a coordinate", field.empty() ? "," : field);
      value[i] = number.value_or(std::numeric_limits<double>::quiet_NaN());
    }
    rows_->add(value, lines_.line_number());
    if (columns_.label) {
      const std::string_view field = fields_[*columns_.label];
      using Limits = std::numeric_limits<double>;
      const double no_number = field.empty() ? Limits::quiet_NaN() : Limits::infinity();
      builder_.add_label(number_of(field, delimiter).value_or(no_number));
    }
    ++since_count_;
  }

  [[noreturn]] void fail_without_points() {
    if (header_lines_ == 0) builder_.finish();
    throw DataError(file_ + ":" + std::to_string(first_line_), "a coordinate",
                    "\"" + std::string(first_word_.substr(0, 40)) + "\"");
  }

  const std::string& file_;
  TextLines lines_;
  FileShapeBuilder builder_;
  bool names_are_given_;
  PointColumns columns_;
  std::optional<PointRows> rows_;
  std::vector<std::string_view> fields_, names_;
  // The last line with delimiters before the points, if it names no x, y and z, and its number of fields.
  struct {
    std::string_view line = {};
    size_t count = 0;
  } unknown_names_;
  size_t column_count_ = 0;
  int64_t header_lines_ = 0, first_line_ = 0;
  int64_t count_ = 0, since_count_ = 0;  // points announced, and read since
  int64_t unannounced_ = 0;              // points read beyond those
  std::string_view first_word_;
};

}  // namespace

FileShape read_xyz(std::string_view text, const std::string& file, const std::string& columns) {
  return PointTable(text, file, columns).read();
}

}  // namespace geosft
