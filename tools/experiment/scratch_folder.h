// SPDX-License-Identifier: Apache-2.0
// Creates temporary folders for the programs that draw.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "data/atomic_file.h"

namespace geosft {

// A folder that is removed with the object. Its name contains the process ID, so that the next process can remove the
// folder of a killed one.
class ScratchFolder {
 public:
  // Throws std::runtime_error if the folder cannot be made.
  ScratchFolder() {
    const std::filesystem::path parent = std::filesystem::temp_directory_path();
    remove_abandoned(parent, "geosft_plot_([0-9]{1,9})_.{6}");
    std::string name = (parent / ("geosft_plot_" + std::to_string(::getpid()) + "_XXXXXX")).string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder " + name + ": " + std::strerror(errno));
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace geosft
