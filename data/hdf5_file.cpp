// SPDX-License-Identifier: Apache-2.0
#include "data/hdf5_file.h"

#include <c10/util/StringUtil.h>
#include <hdf5.h>

#include <algorithm>
#include <mutex>

#include "data/atomic_file.h"
#include "data/hdf5_chunks.h"
#include "data/shape.h"
#include "data/unpacked_size.h"

namespace geosft {
namespace {

// The library keeps global state and is built without locks on Debian. While held, it prints no errors either.
class LibraryLock {
 public:
  LibraryLock() : lock_(mutex()) {
    H5Eget_auto2(H5E_DEFAULT, &printer_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~LibraryLock() { H5Eset_auto2(H5E_DEFAULT, printer_, data_); }
  LibraryLock(const LibraryLock&) = delete;
  LibraryLock& operator=(const LibraryLock&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t printer_ = nullptr;
  void* data_ = nullptr;
};

// A handle of the library with the function that closes it.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

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

// The bytes of a dataset as they would lie in the file without compression. Sizes of 0 count as 1: a tensor has strides
// even where it holds nothing.
double unpacked_bytes(const std::vector<int64_t>& shape, size_t number_size) {
  auto bytes = static_cast<double>(number_size);
  for (const int64_t size : shape) bytes *= size < 0 ? 1e30 : std::max(static_cast<double>(size), 1.0);
  return bytes;
}

// A larger claim is a broken or a hostile header.
bool is_plausible(double bytes, uint64_t stored_bytes) {
  constexpr double allowance = 65536;
  const double stored = static_cast<double>(stored_bytes);
  return bytes <= deflate_ratio * stored + allowance && bytes <= static_cast<double>(most_unpacked(stored_bytes));
}

herr_t refuse_other_files(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) {
  return -1;
}

// Opens a dataset of this file: not through a link to another one.
hid_t open_own(hid_t file, const std::string& dataset) {
  const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  H5Pset_elink_cb(access, refuse_other_files, nullptr);
  return H5Dopen2(file, dataset.c_str(), access);
}

// Whether the numbers lie in this file: other files can be named for them, by any path.
bool holds_own(hid_t layout) {
  return H5Pget_external_count(layout) == 0 && H5Pget_layout(layout) != H5D_VIRTUAL;
}

hid_t stored_type(at::ScalarType type) {
  switch (type) {
    case at::kByte:
      return H5T_NATIVE_UINT8;
    case at::kInt:
      return H5T_NATIVE_INT32;
    case at::kLong:
      return H5T_NATIVE_INT64;
    case at::kFloat:
      return H5T_NATIVE_FLOAT;
    case at::kDouble:
      return H5T_NATIVE_DOUBLE;
    default:
      TORCH_CHECK(false, "HDF5 datasets of dtype ", type, " are not written");
  }
}

// Compressed in blocks of rows; what holds nothing needs no blocks.
hid_t storage_of(const at::Tensor& data) {
  constexpr int64_t block_bytes = 1 << 20;
  const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
  if (data.numel() == 0 || data.dim() == 0) return layout;
  std::vector<hsize_t> block(data.sizes().begin(), data.sizes().end());
  const int64_t row_bytes = static_cast<int64_t>(data.nbytes()) / data.size(0);
  block[0] = static_cast<hsize_t>(std::clamp<int64_t>(block_bytes / row_bytes, 1, data.size(0)));
  H5Pset_chunk(layout, static_cast<int>(block.size()), block.data());
  H5Pset_shuffle(layout);
  H5Pset_deflate(layout, 4);
  return layout;
}

bool write_dataset(hid_t file, const std::string& name, const at::Tensor& tensor) {
  const at::Tensor data = tensor.contiguous();
  const hid_t type = stored_type(data.scalar_type());
  const std::vector<hsize_t> sizes(data.sizes().begin(), data.sizes().end());
  const Handle space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose);
  const Handle layout(storage_of(data), H5Pclose);
  const Handle set(H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, layout, H5P_DEFAULT), H5Dclose);
  return set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data_ptr()) >= 0;
}

// The bytes of the file, which is made in memory: only what is complete reaches the disk.
std::string file_image(const std::string& name, const std::map<std::string, at::Tensor>& datasets) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, size_t{1} << 22, /*backing_store=*/false);
  const Handle file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
  bool good = file >= 0;
  for (const auto& [dataset, tensor] : datasets) good = good && write_dataset(file, dataset, tensor);
  good = good && H5Fflush(file, H5F_SCOPE_LOCAL) >= 0;
  const ssize_t size = good ? H5Fget_file_image(file, nullptr, 0) : -1;
  std::string bytes(static_cast<size_t>(std::max<ssize_t>(size, 0)), '\0');
  if (size < 0 || H5Fget_file_image(file, bytes.data(), bytes.size()) != size) {
    throw DataError(name, "memory to make an HDF5 file", "too little");
  }
  return bytes;
}

}  // namespace

void write_hdf5(const std::filesystem::path& file, const std::map<std::string, at::Tensor>& datasets) {
  std::string bytes;
  {
    const LibraryLock lock;
    bytes = file_image(file.string(), datasets);
  }
  write_file_atomically(file, bytes);
}

at::Tensor as_bytes(const std::string& text) {
  return at::tensor(at::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t*>(text.data()), text.size()), at::kByte);
}

Hdf5File::Hdf5File(const std::filesystem::path& file) : file_(file.string()) {
  if (!std::filesystem::is_regular_file(file)) throw DataError(file_, "an HDF5 file", "no file of this name");
  const LibraryLock lock;
  handle_ = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (handle_ < 0) throw DataError(file_, "an HDF5 file", "something else, or a truncated one");
}

Hdf5File::~Hdf5File() {
  const LibraryLock lock;
  H5Fclose(handle_);
}

std::vector<std::string> Hdf5File::list() const {
  const LibraryLock lock;
  std::vector<std::string> names;
  H5Literate(handle_, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect_name, &names);
  std::sort(names.begin(), names.end());
  return names;
}

bool Hdf5File::has(const std::string& dataset) const {
  const LibraryLock lock;
  return H5Lexists(handle_, dataset.c_str(), H5P_DEFAULT) > 0;
}

at::Tensor Hdf5File::read(const std::string& dataset, at::ScalarType type) const {
  const LibraryLock lock;
  const std::string name = file_ + ":" + dataset;
  const Handle data(open_own(handle_, dataset), H5Dclose);
  if (data < 0) throw DataError(name, "a dataset of this name in the file itself", "none");
  const Handle layout(H5Dget_create_plist(data), H5Pclose);
  if (!holds_own(layout)) throw DataError(name, "numbers in the file itself", "a reference to another file");
  const Handle type_in_file(H5Dget_type(data), H5Tclose);
  const H5T_class_t kind = H5Tget_class(type_in_file);
  constexpr size_t largest_number = 16;
  const bool wanted =
      (kind == H5T_INTEGER || (kind == H5T_FLOAT && type == at::kFloat)) && H5Tget_size(type_in_file) <= largest_number;
  if (!wanted) throw DataError(name, type == at::kFloat ? "numbers" : "integers", "another type");
  const Handle space(H5Dget_space(data), H5Sclose);
  if (H5Sget_simple_extent_type(space) == H5S_NULL) throw DataError(name, "numbers", "none");
  const std::vector<int64_t> shape = dimensions(space);
  // What is stored is a claim, too: that of the file is none.
  const uint64_t file_bytes = std::filesystem::file_size(file_);
  const uint64_t stored_bytes = std::min<uint64_t>(H5Dget_storage_size(data), file_bytes);
  const double bytes = unpacked_bytes(shape, H5Tget_size(type_in_file));
  if (!is_plausible(bytes, stored_bytes)) {
    throw DataError(name, "a size that fits its " + std::to_string(stored_bytes) + " stored bytes",
                    c10::str(at::IntArrayRef(shape)) + " numbers");
  }
  if (H5Pget_layout(layout) == H5D_CHUNKED) {
    check_chunks({data, layout, shape, H5Tget_size(type_in_file), file_bytes, name});
  }
  at::Tensor out = at::empty(shape, type);
  const hid_t memory_type = type == at::kFloat ? H5T_NATIVE_FLOAT : H5T_NATIVE_INT64;
  if (H5Dread(data, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data_ptr()) < 0) {
    throw DataError(name, "readable data", "damaged or truncated data");
  }
  return out;
}

}  // namespace geosft
