// SPDX-License-Identifier: Apache-2.0
// Reads shape files in Python: the operator geosft::_read_cloud, which is there once this library has been loaded.
#include <string>
#include <tuple>
#include <vector>

#include "data/data_error.h"
#include "data/formats/point_columns.h"
#include "data/points/point_dataset.h"
#include "geometry/operators.h"

namespace geosft {
namespace {

// Returns the coordinates of the cloud of a file [n, 3], float64 where float32 does not hold them; its normals, or none
// where it has none; what is to be said about the file; and whether it is a mesh, whose points are sampled as the tools
// do.
std::tuple<at::Tensor, std::optional<at::Tensor>, std::vector<std::string>, bool> read_cloud(
    std::string file, int64_t points_per_mesh, int64_t seed, std::string columns, bool drop_invalid) {
  PointDatasetOptions options;
  options.points_per_mesh = points_per_mesh;
  options.seed = static_cast<uint64_t>(seed);
  if (const std::string error = columns_error(columns); !error.empty()) throw DataError("columns: " + error);
  options.columns = std::move(columns);
  options.drop_invalid = drop_invalid;
  std::vector<std::string> warnings;
  const Shape shape = read_shape(file, options, &warnings);
  std::optional<at::Tensor> normals;
  if (shape.normals.defined()) normals = shape.normals;
  return {file_coordinates(shape), normals, warnings, shape.from_mesh};
}

GEOSFT_OPERATORS(m) {
  m.def(
      "_read_cloud(str file, int points_per_mesh, int seed, str columns, bool drop_invalid) -> (Tensor, Tensor?, "
      "str[], bool)");
}

GEOSFT_KERNELS(CompositeImplicitAutograd, m) {
  m.impl("_read_cloud", read_cloud);
}

}  // namespace
}  // namespace geosft
