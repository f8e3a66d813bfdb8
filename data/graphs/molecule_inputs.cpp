// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/molecule_inputs.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <stdexcept>

#include "data/cache_folder.h"
#include "data/data_error.h"
#include "data/formats/hdf5_file.h"
#include "data/graphs/molecule_features.h"
#include "data/seeds.h"
#include "geometry/threads.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Increment whenever the results for the same SMILES change.
constexpr const char* molecule_inputs_version = "molecule inputs 1";

// Describes everything that a result depends on.
std::string molecules_key(const std::vector<std::string>& smiles, const std::string& what) {
  std::string all;
  for (const std::string& each : smiles) all += each + "\n";
  return std::string(molecule_inputs_version) + "\n" + molecule_library() + "\n" + what + "\n" +
         std::to_string(smiles.size()) + " " + std::to_string(text_hash(all));
}

// Loads the tensor of this key from the cache, or makes and stores it. `read` reads it from the file's "values".
template <class Read, class Make>
at::Tensor cached_tensor(const fs::path& cache, const std::string& key, const Read& read, const Make& make) {
  if (cache.empty()) return make();
  const fs::path file = cache_file(cache, key, ".molecules.h5");
  try {
    const Hdf5File stored(file);
    if (at::equal(stored.read_int("key"), as_bytes(key).to(at::kLong))) return read(stored);
  } catch (const DataError&) {
    // An absent or damaged file is made again.
  }
  const at::Tensor values = make();
  try {
    if (make_cache_folder(cache)) write_hdf5(file, {{"key", as_bytes(key)}, {"values", values}});
  } catch (const DataError&) {
    return values;  // made again next time
  }
  return values;
}

at::Tensor all_vectors(const std::vector<std::string>& smiles, const GraphVectorOptions& options,
                       const std::function<void(int64_t, int64_t)>& progress) {
  const int64_t total = static_cast<int64_t>(smiles.size()), columns = vector_columns(options);
  const int64_t described = columns - options.count_columns();
  at::Tensor out = at::zeros({total, columns});
  out.narrow(1, 0, described).fill_(std::numeric_limits<float>::quiet_NaN());
  float* const first = out.data_ptr<float>();
  std::mutex mutex;
  int64_t done = 0;
  parallel_items(total, at::get_num_threads(), [&](int64_t i) {
    try {
      const std::vector<float> vector = molecule_vector(smiles[static_cast<size_t>(i)], options);
      std::copy(vector.begin(), vector.end(), first + i * columns);
    } catch (const std::invalid_argument&) {
      // The row keeps its values for a molecule that is not known.
    }
    if (!progress) return;
    const std::lock_guard lock(mutex);
    progress(++done, total);
  });
  return out;
}

}  // namespace

at::Tensor molecule_vectors(const std::vector<std::string>& smiles, const GraphVectorOptions& options,
                            const fs::path& cache, const std::function<void(int64_t, int64_t)>& progress) {
  std::string what = "vectors " + std::to_string(options.fingerprint_bits);
  if (options.descriptors) what += " descriptors";
  for (const std::string& name : options.fingerprints) what += " " + name;
  return cached_tensor(
      cache, molecules_key(smiles, what), [](const Hdf5File& file) { return file.read_float("values"); },
      [&] { return all_vectors(smiles, options, progress); });
}

DatasetSplit scaffold_split(const std::vector<std::string>& smiles, const fs::path& cache) {
  const at::Tensor groups = cached_tensor(
      cache, molecules_key(smiles, "scaffolds"), [](const Hdf5File& file) { return file.read_int("values"); },
      [&] { return at::tensor(scaffold_groups(smiles), at::kLong); });
  const int64_t* const first = groups.const_data_ptr<int64_t>();
  return grouped_split({first, first + groups.numel()});
}

}  // namespace geosft
