// SPDX-License-Identifier: Apache-2.0
// What the tests of pictures share.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "data/read_file.h"
#include "tests/environment.h"
#include "tests/temporary_path.h"
#include "tools/experiment/gnuplot.h"

namespace geosft::test {

// A folder for pictures with a name that a shell or gnuplot could take for something else.
class PictureFolder {
 public:
  PictureFolder() : path_(temporary_path("geosft test 'pictures' $HOME")) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~PictureFolder() { std::filesystem::remove_all(path_); }
  PictureFolder(const PictureFolder&) = delete;
  PictureFolder& operator=(const PictureFolder&) = delete;

  std::filesystem::path stem() const { return path_ / "a picture"; }
  std::string png() const { return read_file(stem().string() + ".png"); }
  std::string svg() const { return read_file(stem().string() + ".svg"); }
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

inline int occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

// Both files are there and are what their endings say. Without gnuplot: the reason is given and nothing is left behind.
// True when there is a picture to look at.
inline bool require_picture(const PlotResult& result, const PictureFolder& folder) {
  INFO(result.reason);
  if (!has_gnuplot()) {
    CHECK_FALSE(result.drawn);
    CHECK(result.reason == "gnuplot is not installed");
    CHECK(folder.empty());
    return false;
  }
  REQUIRE(result.drawn);
  CHECK(folder.png().rfind("\x89PNG\r\n", 0) == 0);
  CHECK(folder.png().size() > 4000);
  CHECK(folder.svg().find("<svg") != std::string::npos);
  CHECK(folder.svg().find("</svg>") != std::string::npos);
  return true;
}

}  // namespace geosft::test
