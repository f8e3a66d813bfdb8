// SPDX-License-Identifier: Apache-2.0
#include "data/points/shape_cache.h"
#include "data/checkpoint.h"
#include "data/formats/shape_file.h"
#include "tests/fuzz/checkpoint_frame.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

// A cloud that comes out can be used as one.
void read_shape_cache(const std::string& input) {
  static const InputFolder folder({});
  const ShapeCache cache(folder.fill(""));
  test::write_text(cache.file("id"), framed(input));
  const std::optional<SampledShape> sampled = cache.load("id", "key");
  if (!sampled) return;
  const at::Tensor &points = sampled->shape.points, &normals = sampled->shape.normals;
  TORCH_CHECK(points.scalar_type() == at::kFloat && points.dim() == 2 && points.size(0) > 0 && points.size(1) == 3);
  TORCH_CHECK(!normals.defined() || (normals.scalar_type() == at::kFloat && normals.sizes() == points.sizes()));
}

Inputs cloud_seeds_of_cache() {
  return {unframed(bytes_of_file([](const auto& file) {
    save_checkpoint(file, {{{"points", at::ones({2, 3})}, {"normals", at::ones({2, 3})}},
                           {{"key", "key"}, {"warnings", "a face is left out\n"}, {"missing_normals", "1"}}});
  }))};
}

const Registration shape_cache({"shape_cache", read_shape_cache, cloud_seeds_of_cache});

}  // namespace
}  // namespace geosft::fuzz
