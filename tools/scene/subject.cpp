// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/subject.h"

#include "data/read_file.h"

namespace geosft::view {

int64_t Subject::layers() const {
  return trace ? static_cast<int64_t>(trace->layers.size()) : 0;
}

int64_t Subject::heads() const {
  return layers() > 0 ? trace->layers.front().heads : 0;
}

bool Subject::head_samples() const {
  return trace && trace->head.score.defined();
}

std::optional<geosft::Mesh> read_surface(const std::filesystem::path& file, const ShapeReadOptions& options) {
  const FileShape shape = parse_shape(read_file(file), file.string(), options);
  if (!shape.is_mesh()) return std::nullopt;
  return shape.mesh;
}

}  // namespace geosft::view
