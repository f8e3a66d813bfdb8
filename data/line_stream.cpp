// SPDX-License-Identifier: Apache-2.0
#include "data/line_stream.h"

#include "data/points/shape.h"
#include "data/read_file.h"

namespace geosft {

LineStream::LineStream(const std::filesystem::path& file) : file_(file), stream_(open_file(file)) {}

bool LineStream::next() {
  while (std::getline(stream_, line_)) {
    ++number_;
    if (!line().empty()) return true;
  }
  if (stream_.bad())
    throw DataError(file_.string(), "a readable file", "an error after line " + std::to_string(number_));
  return false;
}

std::string_view LineStream::line() const {
  return trimmed(line_);
}

void LineStream::fail(const std::string& expected, const std::string& found) const {
  throw DataError(file_.string() + ":" + std::to_string(number_), expected, found);
}

}  // namespace geosft
