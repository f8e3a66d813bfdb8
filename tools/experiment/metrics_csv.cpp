// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/metrics_csv.h"

#include <cerrno>
#include <cstring>
#include <iomanip>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "data/atomic_file.h"
#include "data/points/shape.h"
#include "data/read_file.h"
#include "tools/experiment/shortest_text.h"

namespace geosft {
namespace {

constexpr std::size_t column_count = 9;
constexpr std::string_view last_column = ",waiting";  // missing in older runs

std::string header_of(const std::string& score, const std::string& rate) {
  return "step,epoch,split,loss," + score + ",learning_rate,seconds," + rate + std::string(last_column);
}

std::string line_of(const MetricsRow& row) {
  std::string line = shortest_text(row.step) + "," + shortest_text(row.epoch) + "," + row.split;
  for (const double value : {row.loss, row.score, row.learning_rate, row.seconds, row.items_per_second, row.waiting}) {
    line += "," + shortest_text(value);
  }
  return line + "\n";
}

bool known_split(const std::string& split) {
  return split == "train" || split == "validation" || split == "test";
}

template <typename T>
bool read_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string_view> split_at_commas(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

bool read_row(std::string_view line, std::size_t columns, MetricsRow& row) {
  const std::vector<std::string_view> fields = split_at_commas(line);
  if (fields.size() != columns) return false;
  row.split = std::string(fields[2]);
  return known_split(row.split) && read_number(fields[0], row.step) && read_number(fields[1], row.epoch) &&
         read_number(fields[3], row.loss) && read_number(fields[4], row.score) &&
         read_number(fields[5], row.learning_rate) && read_number(fields[6], row.seconds) &&
         read_number(fields[7], row.items_per_second) &&
         (columns < column_count || read_number(fields[8], row.waiting));
}

// Returns the number of columns; 0 if the line is not a valid header.
std::size_t columns_of_header(std::string_view line) {
  const std::vector<std::string_view> fields = split_at_commas(line);
  if (fields.size() < column_count - 1 || !fields[7].ends_with("_per_second")) return 0;
  const std::string header = header_of(std::string(fields[4]), std::string(fields[7]));
  return line == header || std::string(line).append(last_column) == header ? fields.size() : 0;
}

}  // namespace

std::string ScoreStyle::text(double value) const {
  std::ostringstream out;
  out << name << ' ';
  if (share) {
    out << std::fixed << std::setprecision(1) << 100 * value << " %";
  } else {
    out << std::setprecision(4) << value;
  }
  return out.str();
}

std::vector<MetricsRow> read_metrics(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  std::vector<MetricsRow> rows;
  std::size_t number = 0, columns = 0;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const std::string place = file.string() + ":" + std::to_string(++number);
    if (number == 1) {
      columns = columns_of_header(line);
      if (columns == 0) {
        throw DataError(place, "the header " + header_of("SCORE", "ITEMS_per_second"), "'" + std::string(line) + "'");
      }
      continue;
    }
    MetricsRow row;
    row.waiting = std::numeric_limits<double>::quiet_NaN();
    if (!read_row(line, columns, row)) throw DataError(place, "a row of metrics", "'" + std::string(line) + "'");
    rows.push_back(row);
  }
  return rows;
}

MetricsWriter::MetricsWriter(std::filesystem::path file, const ScoreStyle& style)
    : file_(std::move(file)), header_(header_of(style.name, style.items + "_per_second")) {
  begin({});
}

MetricsWriter::MetricsWriter(std::filesystem::path file, int64_t resume_step, int64_t resume_epoch,
                             const ScoreStyle& style)
    : file_(std::move(file)), header_(header_of(style.name, style.items + "_per_second")) {
  std::vector<MetricsRow> rows = std::filesystem::exists(file_) ? read_metrics(file_) : std::vector<MetricsRow>();
  std::erase_if(rows, [&](const MetricsRow& row) { return row.step > resume_step || row.epoch > resume_epoch; });
  begin(rows);
}

void MetricsWriter::begin(const std::vector<MetricsRow>& rows) {
  std::string text = header_ + "\n";
  for (const MetricsRow& row : rows) {
    text += line_of(row);
    last_[row.split] = {row.step, row.epoch};
  }
  write_file_atomically(file_, text);
  out_.rdbuf()->pubsetbuf(nullptr, 0);  // unbuffered: closing must not retry a failed write
  out_.open(file_, std::ios::binary | std::ios::app);
  if (!out_) throw DataError(file_.string(), "a file that can be written", std::strerror(errno));
}

void MetricsWriter::append(const MetricsRow& row) {
  if (!known_split(row.split)) {
    throw std::invalid_argument("split: expected train, validation or test, found '" + row.split + "'");
  }
  const auto last = last_.find(row.split);
  if (last != last_.end() && std::pair(row.step, row.epoch) <= last->second) {
    throw std::invalid_argument("step: expected one after " + std::to_string(last->second.first) + " of " + row.split +
                                " or a later epoch, found " + std::to_string(row.step));
  }
  std::error_code unknown;
  const std::uintmax_t before = std::filesystem::file_size(file_, unknown);
  out_ << line_of(row) << std::flush;
  if (!out_) {
    const int reason = errno;
    if (!unknown) std::filesystem::resize_file(file_, before, unknown);  // remove a partial row
    throw DataError(file_.string(), "room for a row of metrics", std::strerror(reason));
  }
  last_[row.split] = {row.step, row.epoch};
}

}  // namespace geosft
