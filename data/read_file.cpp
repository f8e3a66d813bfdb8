// SPDX-License-Identifier: Apache-2.0
#include "data/read_file.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include "data/data_error.h"
#include "data/formats/file_content.h"

namespace geosft {

std::ifstream open_file(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) throw DataError(file.string(), "a file", "nothing of this name");
  if (!std::filesystem::is_regular_file(status)) throw DataError(file.string(), "a file", "a folder or a device");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw DataError(file.string(), "a readable file", std::strerror(errno));
  return stream;
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream = open_file(file);
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(file, error);
  if (error) throw DataError(file.string(), "a readable file", error.message());
  std::string bytes(size, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(size));
  if (static_cast<uintmax_t>(stream.gcount()) != size) {
    throw DataError(file.string(), std::to_string(size) + " bytes", "only " + std::to_string(stream.gcount()));
  }
  return bytes;
}

std::string file_head(const std::filesystem::path& file, size_t size) {
  std::ifstream stream = open_file(file);
  std::string head(size, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(size));
  head.resize(static_cast<size_t>(stream.gcount()));
  return head;
}

std::filesystem::path only_file(const std::filesystem::path& folder, const std::string& ending) {
  std::filesystem::path found;
  if (!std::filesystem::is_directory(folder)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().filename().string().ends_with(ending)) continue;
    if (!found.empty()) throw DataError(folder.string(), "one file *" + ending, "several");
    found = entry.path();
  }
  return found;
}

std::string_view trimmed(std::string_view text) {
  const auto is_left_out = [](char c) { return is_blank(c) || c == '\n'; };
  while (!text.empty() && is_left_out(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_left_out(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  const std::string bytes = read_file(file);
  require_plain_text(bytes, file.string());
  const std::string_view text = without_byte_order_mark(bytes);
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trimmed(text.substr(begin, end - begin));
    if (!line.empty()) lines.emplace_back(line);
    begin = end + 1;
  }
  if (lines.empty()) throw DataError(file.string(), "one name a line", "an empty file");
  return lines;
}

LineStream::LineStream(const std::filesystem::path& file) : file_(file), stream_(open_file(file)) {
  require_plain_text(file_head(file, max_foreign_bytes), file.string());
}

bool LineStream::next() {
  while (std::getline(stream_, line_)) {
    if (++number_ == 1) line_ = std::string(without_byte_order_mark(line_));
    if (!line().empty()) return true;
  }
  if (stream_.bad())
    throw DataError(file_.string(), "a readable file", "an error after line " + std::to_string(number_));
  return false;
}

std::string_view LineStream::line() const {
  return trimmed(line_);
}

std::string_view LineStream::whole_line() const {
  const std::string_view line = line_;
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

void LineStream::fail(const std::string& expected, const std::string& found) const {
  throw DataError(file_.string() + ":" + std::to_string(number_), expected, found);
}

}  // namespace geosft
