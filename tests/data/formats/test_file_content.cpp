// SPDX-License-Identifier: Apache-2.0
#include "data/formats/file_content.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_file_content {
namespace {

using namespace std::string_view_literals;

const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";

// A text of ASCII in UTF-16, without a byte-order mark.
std::string utf16(std::string_view text, bool big_endian = false) {
  std::string wide;
  for (const char c : text) wide += big_endian ? std::string{'\0', c} : std::string{c, '\0'};
  return wide;
}

}  // namespace

TEST_CASE("files that other programs left under a shape's name are recognized by their first bytes", "[file_content]") {
  CHECK(foreign_content("PK\x03\x04rest") == "a ZIP archive");
  CHECK(foreign_content("\x89PNG\r\n\x1a\n") == "a PNG picture");
  CHECK(foreign_content("\xFF\xD8\xFF\xE0") == "a JPEG picture");
  CHECK(foreign_content("%PDF-1.7") == "a PDF document");
  CHECK(foreign_content("\x89HDF\r\n") == "an HDF5 file");
  CHECK(foreign_content("\xEF\xBB\xBF  <!DOCTYPE html>") == "an HTML page");
  CHECK(foreign_content("\n<HTML lang=\"en\">") == "an HTML page");
  CHECK(foreign_content("<?xml version=\"1.0\"?>") == "an XML document");
  CHECK_THAT(foreign_content(pointer), Catch::Contains("Git LFS pointer") && Catch::Contains("git lfs pull"));
  for (const std::string_view shape : {"OFF\n"sv, "v 0 0 0\n"sv, "ply\n"sv, "\0\0\0\0"sv, ""sv, "<"sv}) {
    CHECK(foreign_content(shape).empty());
  }
}

TEST_CASE("formats whose data may begin with any bytes are told apart from text alone", "[file_content]") {
  CHECK(foreign_text("PK\x03\x04").empty());
  CHECK(foreign_text("\xFF\xFE\x00\x3F"sv).empty());
  CHECK(foreign_text("<html>") == "an HTML page");
  CHECK_FALSE(foreign_text(pointer).empty());
}

TEST_CASE("UTF-16 and UTF-32 have a message of their own, with a converter", "[file_content]") {
  const auto refused = [](const std::string& text, const std::string& encoding) {
    require_error([&] { require_plain_text(text, "a.csv"); },
                  {"a.csv: expected text in UTF-8, found text in " + encoding + ", which `iconv -f " + encoding +
                   " -t UTF-8 IN > OUT` converts"});
  };
  refused("\xFF\xFE" + utf16("x,y,z\n1,2,3\n"), "UTF-16");
  refused("\xFE\xFF" + utf16("x,y,z\n", true), "UTF-16");
  refused(std::string("\xFF\xFE\0\0x\0\0\0", 8), "UTF-32");
  refused(utf16("12 34\n"), "UTF-16LE");
  refused(utf16("12 34\n", true), "UTF-16BE");
  CHECK(foreign_content("\xFF\xFE" + utf16("OFF\n")) ==
        "text in UTF-16, which `iconv -f UTF-16 -t UTF-8 IN > OUT` converts");
}

TEST_CASE("plain text is text in UTF-8, with or without a byte-order mark, and zero bytes in blocks",
          "[file_content]") {
  for (const std::string_view text : {""sv, "1"sv, "1 2 3\n"sv, "\xEF\xBB\xBF\x31 2"sv, "\0\0\0\0\0\0\0\0"sv,
                                      "1\0\0\0\0\0\0\0"sv, "1\0002\0003\0"sv, "\xC3\xA9\n"sv}) {
    CHECK_NOTHROW(require_plain_text(text, "a.txt"));
  }
  require_error([] { require_plain_text("<html><body>404</body></html>", "a.txt"); }, {"a.txt", "an HTML page"});
  require_error([] { require_plain_text(pointer, "a.txt"); }, {"a.txt", "Git LFS"});
}

}  // namespace geosft::test::test_file_content
