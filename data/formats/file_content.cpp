// SPDX-License-Identifier: Apache-2.0
#include "data/formats/file_content.h"

#include <array>

#include "data/formats/text_lines.h"
#include "data/read_file.h"

namespace geosft {
namespace {

struct Signature {
  std::string_view begin;
  const char* what;
};

// A file that begins with these bytes is no shape. An NPZ file is a ZIP archive, and is not looked at here.
constexpr std::array<Signature, 8> signatures = {{{"PK\x03\x04", "a ZIP archive"},
                                                  {"\x89PNG", "a PNG picture"},
                                                  {"\xFF\xD8\xFF", "a JPEG picture"},
                                                  {"%PDF-", "a PDF document"},
                                                  {"\x89HDF", "an HDF5 file"},
                                                  {"7z\xBC\xAF\x27\x1C", "a 7z archive"},
                                                  {"\xFF\xFE", "text in UTF-16, where UTF-8 is read"},
                                                  {"\xFE\xFF", "text in UTF-16, where UTF-8 is read"}}};

constexpr const char* lfs_pointer = "a Git LFS pointer in place of the file, which `git lfs pull` fetches";

constexpr std::array<Signature, 5> markup = {{{"<!doctype html", "an HTML page"},
                                              {"<html", "an HTML page"},
                                              {"<head", "an HTML page"},
                                              {"<body", "an HTML page"},
                                              {"<?xml", "an XML document"}}};

}  // namespace

std::string foreign_text(std::string_view bytes) {
  std::string_view text = bytes.substr(0, 1000);
  text = without_byte_order_mark(text);
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
  return foreign_text(bytes);
}

}  // namespace geosft
