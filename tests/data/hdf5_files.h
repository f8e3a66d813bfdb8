// SPDX-License-Identifier: Apache-2.0
// HDF5 files that the tests make.
#pragma once

#include <ATen/ATen.h>
#include <hdf5.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace geosft::test {

// Each tensor becomes a dataset of its own type: float, double, uint8 or int64; compressed like the published files.
inline void write_hdf5(const std::filesystem::path& file, const std::map<std::string, at::Tensor>& datasets) {
  std::filesystem::create_directories(file.parent_path());
  const hid_t handle = H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  for (const auto& [name, tensor] : datasets) {
    const at::Tensor data = tensor.contiguous();
    const std::vector<hsize_t> sizes(data.sizes().begin(), data.sizes().end());
    const hid_t type = data.scalar_type() == at::kFloat    ? H5T_NATIVE_FLOAT
                       : data.scalar_type() == at::kDouble ? H5T_NATIVE_DOUBLE
                       : data.scalar_type() == at::kByte   ? H5T_NATIVE_UINT8
                                                           : H5T_NATIVE_INT64;
    const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(layout, static_cast<int>(sizes.size()), sizes.data());
    H5Pset_deflate(layout, 4);
    const hid_t set = H5Dcreate2(handle, name.c_str(), type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data_ptr());
    H5Dclose(set);
    H5Pclose(layout);
    H5Sclose(space);
  }
  H5Fclose(handle);
}

}  // namespace geosft::test
