// SPDX-License-Identifier: Apache-2.0
// Reads glTF 2.0 meshes and clouds: .gltf with its buffers, and .glb.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// Returns the triangles (lists, strips and fans) of all nodes of the default scene, in world coordinates, or the points
// (with their normals, if all have some) if there are no triangles. Lines, materials, textures, skins, morph targets
// and animations are ignored. Buffers are in the file, in data URIs, or in files of the same folder. Throws DataError
// for a broken file, for sparse accessors, and for compressed or instanced meshes (Draco, meshopt,
// EXT_mesh_gpu_instancing).
FileShape read_gltf(std::string_view bytes, const std::string& file);

}  // namespace geosft
