// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"
#include "tests/data/formats/gltf_texts.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

// The folder of the files that an input names is empty.
void read_gltf_alone(const std::string& input) {
  static const InputFolder folder({});
  const std::string file = (folder / "input.gltf").string();
  to_cloud(read_gltf(input, file), 8, 1, file);
}

const Registration gltf({"gltf", read_gltf_alone, [] {
                           test::GltfExample points;
                           points.node = R"("mesh": 0, "rotation": [0, 0, 1, 1], "scale": [1, 2, -3])";
                           points.primitive = R"("attributes": {"POSITION": 0, "NORMAL": 1}, "mode": 0)";
                           test::GltfExample strip;
                           strip.primitive = R"("attributes": {"POSITION": 0}, "mode": 5, "indices": 2)";
                           return Inputs{test::gltf_text({}), test::gltf_text(points), test::glb_bytes(strip)};
                         }});

}  // namespace
}  // namespace geosft::fuzz
