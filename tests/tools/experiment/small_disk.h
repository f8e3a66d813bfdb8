// SPDX-License-Identifier: Apache-2.0
// A disk that is full when a test wants it to be.
#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/data/files.h"

namespace geosft::test {

// A file system in a file, mounted below a temporary folder as long as the object lives.
class SmallDisk {
 public:
  explicit SmallDisk(int megabytes) {
    const std::string image = quoted(folder_ / "image");
    std::filesystem::create_directories(path());
    mounted_ = ::geteuid() == 0 && succeeds("truncate -s " + std::to_string(megabytes) + "M " + image) &&
               succeeds("PATH=$PATH:/sbin:/usr/sbin mkfs.ext2 -q -F -m 0 " + image) &&
               succeeds("mount -o loop " + image + " " + quoted(path()));
    // No failure even where nothing may be left out: containers may forbid it to everybody.
    if (!mounted_)
      WARN(
          "no disk can be mounted (that takes root, mkfs.ext2, a loop device): only files that may not grow are "
          "tested");
  }
  ~SmallDisk() {
    if (mounted_) succeeds("umount -l " + quoted(path()));
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  std::filesystem::path path() const { return folder_ / "disk"; }

  // Leaves no room for another file of more than some hundred bytes.
  void fill() const {
    for (const size_t piece : {size_t{1} << 16, size_t{1024}}) {
      std::ofstream ballast(path() / ("ballast" + std::to_string(piece)), std::ios::binary);
      const std::string zeros(piece, 'x');
      while (ballast.write(zeros.data(), static_cast<std::streamsize>(piece)).flush()) {
      }
    }
  }
  void make_room() const {
    for (const char* name : {"ballast65536", "ballast1024"}) std::filesystem::remove(path() / name);
  }

 private:
  static std::string quoted(const std::filesystem::path& path) { return "'" + path.string() + "'"; }
  static bool succeeds(const std::string& command) {
    return std::system(("(" + command + ") >/dev/null 2>&1").c_str()) == 0;
  }

  TemporaryFolder folder_;
  bool mounted_ = false;
};

}  // namespace geosft::test
