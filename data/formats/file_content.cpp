// SPDX-License-Identifier: Apache-2.0
#include "data/formats/file_content.h"

#include <array>

#include "data/data_error.h"
#include "data/formats/text_lines.h"
#include "data/read_file.h"

namespace geosft {
namespace {

struct Signature {
  std::string_view begin;
  const char* what;
};

// A file that begins with these bytes is no shape. An NPZ file is a ZIP archive, and is not looked at here.
constexpr std::array<Signature, 6> signatures = {{{"PK\x03\x04", "a ZIP archive"},
                                                  {"\x89PNG", "a PNG picture"},
                                                  {"\xFF\xD8\xFF", "a JPEG picture"},
                                                  {"%PDF-", "a PDF document"},
                                                  {"\x89HDF", "an HDF5 file"},
                                                  {"7z\xBC\xAF\x27\x1C", "a 7z archive"}}};

constexpr const char* lfs_pointer = "a Git LFS pointer in place of the file, which `git lfs pull` fetches";

constexpr std::array<Signature, 5> markup = {{{"<!doctype html", "an HTML page"},
                                              {"<html", "an HTML page"},
                                              {"<head", "an HTML page"},
                                              {"<body", "an HTML page"},
                                              {"<?xml", "an XML document"}}};

std::string wide_text(const std::string& encoding) {
  return "text in " + encoding + ", which `iconv -f " + encoding + " -t UTF-8 IN > OUT` converts";
}

// Returns the encoding of a text that begins with a byte-order mark of UTF-16 or UTF-32; empty for other texts.
std::string marked_encoding(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\xFF\xFE\0\0"sv) || bytes.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF") ? "UTF-16" : "";
}

// Returns UTF-16LE or UTF-16BE if every second one of the first bytes is zero, as in ASCII letters of UTF-16.
std::string unmarked_encoding(std::string_view bytes) {
  constexpr size_t letters = 4;
  if (bytes.size() < 2 * letters) return {};
  for (const size_t zero : {size_t{1}, size_t{0}}) {
    bool fits = true;
    for (size_t i = 0; i < 2 * letters; ++i) fits = fits && (bytes[i] == '\0') == (i % 2 == zero);
    if (fits) return zero == 1 ? "UTF-16LE" : "UTF-16BE";
  }
  return {};
}

}  // namespace

std::string foreign_text(std::string_view bytes) {
  const std::string_view text = without_byte_order_mark(bytes.substr(0, max_foreign_bytes));
  if (text.starts_with("version https://git-lfs.github.com/")) return lfs_pointer;
  const std::string begin = lower_case(trimmed(text).substr(0, 40));
  for (const Signature& tag : markup) {
    if (begin.starts_with(tag.begin)) return tag.what;
  }
  return {};
}

std::string foreign_content(std::string_view bytes) {
  for (const Signature& signature : signatures) {
    if (bytes.starts_with(signature.begin)) return signature.what;
  }
  const std::string encoding = marked_encoding(bytes);
  return encoding.empty() ? foreign_text(bytes) : wide_text(encoding);
}

void require_plain_text(std::string_view text, const std::string& file) {
  std::string encoding = marked_encoding(text);
  if (encoding.empty()) encoding = unmarked_encoding(text);
  const std::string found = encoding.empty() ? foreign_text(text) : wide_text(encoding);
  if (!found.empty()) throw DataError(file, "text in UTF-8", found);
}

}  // namespace geosft
