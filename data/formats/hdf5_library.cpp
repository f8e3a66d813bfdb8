// SPDX-License-Identifier: Apache-2.0
#include "data/formats/hdf5_library.h"

#include <c10/util/StringUtil.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "data/data_error.h"
#include "data/formats/compression.h"
#include "data/formats/hdf5_chunks.h"
#include "data/formats/hdf5_handles.h"

namespace geosft {
namespace {

herr_t collect_name(hid_t group, const char* name, const H5L_info_t*, void* names) {
  H5O_info_t about;
  if (H5Oget_info_by_name(group, name, &about, H5P_DEFAULT) >= 0 && about.type == H5O_TYPE_DATASET) {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  }
  return 0;
}

std::vector<int64_t> dimensions(hid_t space) {
  const int count = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> sizes(static_cast<size_t>(std::max(count, 0)));
  H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  return {sizes.begin(), sizes.end()};
}

// Returns the uncompressed size of a dataset. Sizes of 0 count as 1, because strides of empty tensors must not overflow
// either.
double unpacked_bytes(const std::vector<int64_t>& shape, size_t number_size) {
  auto bytes = static_cast<double>(number_size);
  for (const int64_t size : shape) bytes *= size < 0 ? 1e30 : std::max(static_cast<double>(size), 1.0);
  return bytes;
}

// Returns whether the claimed size is possible; larger claims come from broken or hostile headers.
bool is_plausible(double bytes, uint64_t stored_bytes) {
  constexpr double allowance = 65536;
  const double stored = static_cast<double>(stored_bytes);
  return bytes <= deflate_ratio * stored + allowance && bytes <= static_cast<double>(max_unpacked(stored_bytes));
}

herr_t refuse_other_files(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) {
  return -1;
}

// Opens a dataset of this file, refusing links to other files.
hid_t open_own(hid_t file, const std::string& dataset) {
  const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  H5Pset_elink_cb(access, refuse_other_files, nullptr);
  return H5Dopen2(file, dataset.c_str(), access);
}

// Returns whether the data lie in this file: HDF5 can refer to any other file by path.
bool holds_own(hid_t layout) {
  return H5Pget_external_count(layout) == 0 && H5Pget_layout(layout) != H5D_VIRTUAL;
}

// Returns whether contiguous data are complete: the library reads out of bounds if a header holds fewer numbers.
// Contiguous data that were never written have no storage and get the fill value; compact data lie in the header.
bool holds_all(hid_t layout, const std::vector<int64_t>& shape, size_t number_size, uint64_t stored_bytes) {
  const H5D_layout_t kind = H5Pget_layout(layout);
  if (kind == H5D_CHUNKED || (kind == H5D_CONTIGUOUS && stored_bytes == 0)) return true;
  return stored_bytes / number_size >= static_cast<uint64_t>(c10::multiply_integers(shape));
}

// Returns whether some numbers of a type are rounded by a cast to float32.
bool exceeds_float(hid_t type) {
  const size_t maximum = H5Tget_class(type) == H5T_FLOAT ? sizeof(float) : sizeof(int16_t);
  return H5Tget_size(type) > maximum;
}

hid_t type_in_memory(at::ScalarType type) {
  if (type == at::kLong) return H5T_NATIVE_INT64;
  return type == at::kDouble ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
}

// The library frees about 1 MB per file on closing. Keeping it in the free lists avoids about 300 page faults for the
// next file.
void keep_records() {
  constexpr int kilobytes = 1 << 10, records = 4096 * kilobytes;
  // The other limits keep their defaults.
  H5set_free_list_limits(records, records, 4096 * kilobytes, 256 * kilobytes, 16384 * kilobytes, 1024 * kilobytes);
}

}  // namespace

Hdf5Library::Hdf5Library(const std::string& name, const std::string& path) : name_(name), path_(path) {
  keep_records();
  handle_ = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (handle_ < 0) throw DataError(name_, "an HDF5 file", "something else, or a truncated one");
}

Hdf5Library::~Hdf5Library() {
  H5Fclose(handle_);
}

std::vector<std::string> Hdf5Library::list() const {
  std::vector<std::string> names;
  H5Literate(handle_, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect_name, &names);
  std::sort(names.begin(), names.end());
  return names;
}

bool Hdf5Library::has(const std::string& dataset) const {
  return H5Lexists(handle_, dataset.c_str(), H5P_DEFAULT) > 0;
}

std::optional<int64_t> Hdf5Library::unsigned_max(const std::string& dataset) const {
  const Handle data(open_own(handle_, dataset), H5Dclose);
  if (data < 0) return std::nullopt;
  const Handle type(H5Dget_type(data), H5Tclose);
  if (H5Tget_class(type) != H5T_INTEGER || H5Tget_sign(type) != H5T_SGN_NONE) return std::nullopt;
  constexpr auto max = std::numeric_limits<int64_t>::max();
  const size_t bits = 8 * H5Tget_size(type);
  return bits < 63 ? (int64_t{1} << bits) - 1 : max;
}

Hdf5Numbers Hdf5Library::read(const std::string& dataset, at::ScalarType type, ReaderRoom& room) const {
  const std::string name = name_ + ":" + dataset;
  const Handle data(open_own(handle_, dataset), H5Dclose);
  if (data < 0) throw DataError(name, "a dataset of this name in the file itself", "none");
  const Handle layout(H5Dget_create_plist(data), H5Pclose);
  if (!holds_own(layout)) throw DataError(name, "numbers in the file itself", "a reference to another file");
  const Handle type_in_file(H5Dget_type(data), H5Tclose);
  const H5T_class_t kind = H5Tget_class(type_in_file);
  constexpr size_t largest_number = 16;
  const bool wanted =
      (kind == H5T_INTEGER || (kind == H5T_FLOAT && type != at::kLong)) && H5Tget_size(type_in_file) <= largest_number;
  if (!wanted) throw DataError(name, type == at::kLong ? "integers" : "numbers", "another type");
  if (type == at::kDouble && !exceeds_float(type_in_file)) type = at::kFloat;
  const Handle space(H5Dget_space(data), H5Sclose);
  if (H5Sget_simple_extent_type(space) == H5S_NULL) throw DataError(name, "numbers", "none");
  std::vector<int64_t> shape = dimensions(space);
  // The stored size is also only a claim, so it is limited by the file size.
  const uint64_t file_bytes = std::filesystem::file_size(path_);
  const uint64_t stored_bytes = std::min<uint64_t>(H5Dget_storage_size(data), file_bytes);
  const double bytes = unpacked_bytes(shape, H5Tget_size(type_in_file));
  if (!is_plausible(bytes, stored_bytes)) {
    throw DataError(name, "a size that fits its " + std::to_string(stored_bytes) + " stored bytes",
                    c10::str(at::IntArrayRef(shape)) + " numbers");
  }
  if (!holds_all(layout, shape, H5Tget_size(type_in_file), H5Dget_storage_size(data))) {
    throw DataError(name, "all of its numbers", std::to_string(stored_bytes) + " bytes");
  }
  const size_t number_size = c10::elementSize(type);
  const hid_t memory_type = type_in_memory(type);
  const int64_t count = c10::multiply_integers(shape);
  if (H5Pget_layout(layout) == H5D_CHUNKED) {
    const Hdf5Chunks chunks({data, layout, type_in_file, shape, file_bytes, name});
    chunks.read(memory_type, number_size,
                static_cast<unsigned char*>(room.take(static_cast<uint64_t>(count) * number_size)));
    return {shape, type};
  }
  void* out = room.take(static_cast<uint64_t>(count) * number_size);
  if (count > 0 && H5Dread(data, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0) {
    throw DataError(name, "readable data", "damaged or truncated data");
  }
  return {shape, type};
}

}  // namespace geosft
