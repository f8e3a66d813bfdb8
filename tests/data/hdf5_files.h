// SPDX-License-Identifier: Apache-2.0
// HDF5 files that the tests make.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "data/formats/hdf5_file.h"

namespace geosft::test {

// Each tensor becomes a dataset, in a folder that is made where it is absent.
inline void write_hdf5(const std::filesystem::path& file, const std::map<std::string, at::Tensor>& datasets) {
  std::filesystem::create_directories(file.parent_path());
  geosft::write_hdf5(file, datasets);
}

}  // namespace geosft::test
