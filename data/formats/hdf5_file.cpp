// SPDX-License-Identifier: Apache-2.0
#include "data/formats/hdf5_file.h"

#include <algorithm>

#include "data/atomic_file.h"
#include "data/data_error.h"
#include "data/formats/file_content.h"
#include "data/formats/hdf5_handles.h"
#include "data/formats/hdf5_library.h"
#include "data/isolated_reader.h"
#include "data/read_file.h"

namespace geosft {
namespace {

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

// Sets up compression in blocks of rows; empty tensors and scalars are not chunked.
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

// Builds the file in memory and returns its bytes, so that only a complete file reaches the disk.
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

// Join names with zero bytes into one text, and split them again.
std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + '\0';
  return text;
}

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\0', begin);
    names.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

// Requests to the reading process: a letter followed by the name of a dataset.
constexpr char ask_open = 'o', ask_list = 'l', ask_has = 'h', ask_floats = 'f', ask_reals = 'r', ask_integers = 'i',
               ask_unsigned_max = 'u';

at::ScalarType type_asked(char what) {
  if (what == ask_integers) return at::kLong;
  return what == ask_reals ? at::kDouble : at::kFloat;
}

// Marks an answer whose numbers are float64.
constexpr const char* are_doubles = "double";

// Answers these requests in the reading process.
class Reading {
 public:
  Reading(std::string name, std::string path) : name_(std::move(name)), path_(std::move(path)) {}

  std::string operator()(const std::string& request, ReaderRoom& room) {
    if (!library_) library_ = std::make_shared<Hdf5Library>(name_, path_);
    const std::string dataset = request.substr(1);
    if (request[0] == ask_list) return joined(library_->list());
    if (request[0] == ask_has) return library_->has(dataset) ? "yes" : "";
    if (request[0] == ask_open) return "";
    if (request[0] == ask_unsigned_max) {
      const std::optional<int64_t> max = library_->unsigned_max(dataset);
      return max ? std::to_string(*max) : "";
    }
    const Hdf5Numbers found = library_->read(dataset, type_asked(request[0]), room);
    std::vector<std::string> answer = {found.type == at::kDouble ? are_doubles : ""};
    for (const int64_t size : found.sizes) answer.push_back(std::to_string(size));
    return joined(answer);
  }

 private:
  std::string name_, path_;
  std::shared_ptr<Hdf5Library> library_;
};

// Takes the name and the absolute path of a file: the process may have another working directory.
ReaderWork reading(const std::string& file) {
  const std::vector<std::string> names = names_in(file);
  return Reading(names.at(0), names.at(1));
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
  const std::string other = foreign_text(file_head(file, max_foreign_bytes));
  if (!other.empty()) throw DataError(file_, "an HDF5 file", other);
  {
    const LibraryLock lock;  // no other thread is inside the library, whose state the child inherits
    reader_ = std::make_unique<IsolatedReader>(joined({file_, std::filesystem::absolute(file).string()}),
                                               std::filesystem::file_size(file), reading);
  }
  ask(ask_open, "");
}

Hdf5File::~Hdf5File() = default;

std::string Hdf5File::ask(char what, const std::string& dataset) const {
  if (const std::optional<std::string> answer = reader_->ask(what + dataset)) return *answer;
  throw DataError(dataset.empty() ? file_ : file_ + ":" + dataset, "an HDF5 file",
                  "damage that ends the HDF5 library, or takes it too long or too much memory");
}

std::vector<std::string> Hdf5File::list() const {
  const std::lock_guard<std::mutex> turn(turn_);
  return names_in(ask(ask_list, ""));
}

bool Hdf5File::has(const std::string& dataset) const {
  const std::lock_guard<std::mutex> turn(turn_);
  return !ask(ask_has, dataset).empty();
}

std::optional<int64_t> Hdf5File::unsigned_max(const std::string& dataset) const {
  const std::lock_guard<std::mutex> turn(turn_);
  const std::string answer = ask(ask_unsigned_max, dataset);
  return answer.empty() ? std::nullopt : std::optional<int64_t>(std::stoll(answer));
}

at::Tensor Hdf5File::read(const std::string& dataset, at::ScalarType type) const {
  const std::lock_guard<std::mutex> turn(turn_);
  const char what = type == at::kLong ? ask_integers : type == at::kDouble ? ask_reals : ask_floats;
  const std::vector<std::string> answer = names_in(ask(what, dataset));
  if (type == at::kDouble && answer.at(0) != are_doubles) type = at::kFloat;
  std::vector<int64_t> sizes;
  for (size_t i = 1; i < answer.size(); ++i) sizes.push_back(std::stoll(answer[i]));
  return reader_->taken(sizes, type);
}

}  // namespace geosft
