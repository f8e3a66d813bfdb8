// SPDX-License-Identifier: Apache-2.0
// glTF files that the tests make: a triangle in the plane z = 0, with corners at 0, x and 2 y.
#pragma once

#include <string>

#include "tests/data/files.h"

namespace geosft::test {

inline std::string base64(const std::string& bytes) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = i; j < i + 3; ++j)
      group = group << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0u);
    for (size_t j = 0; j < 4; ++j) text += i + j > bytes.size() ? '=' : letters[group >> (18 - 6 * j) & 63];
  }
  return text;
}

// Three positions (36 bytes), three normals along y (36), and the corners 0, 1, 2 as uint16 (6, filled up to 8).
inline std::string gltf_buffer() {
  std::string bytes;
  for (const float value : {0, 0, 0, 1, 0, 0, 0, 2, 0}) bytes += raw(value);
  for (int i = 0; i < 3; ++i) bytes += raw(0.0F) + raw(2.0F) + raw(0.0F);
  for (const uint16_t corner : {0, 1, 2, 0}) bytes += raw(corner);
  return bytes;
}

struct GltfExample {
  std::string uri = "data:application/octet-stream;base64," + base64(gltf_buffer());  // empty: the binary part of GLB
  std::string node = "\"mesh\": 0";
  std::string primitive = "\"attributes\": {\"POSITION\": 0, \"NORMAL\": 1}, \"indices\": 2";
  std::string more;  // members of the document, each after a comma
};

inline std::string gltf_text(const GltfExample& example) {
  return "{\"asset\": {\"version\": \"2.0\"}, \"scene\": 0, \"scenes\": [{\"nodes\": [0]}], \"nodes\": [{" +
         example.node + "}], \"meshes\": [{\"primitives\": [{" + example.primitive +
         "}]}], \"buffers\": [{\"byteLength\": 80" + (example.uri.empty() ? "" : ", \"uri\": \"" + example.uri + "\"") +
         "}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": 72}, {\"buffer\": 0, \"byteOffset\": 72, "
         "\"byteLength\": 8}], "
         "\"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\"}, "
         "{\"bufferView\": 0, \"byteOffset\": 36, \"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\"}, "
         "{\"bufferView\": 1, \"componentType\": 5123, \"count\": 3, \"type\": \"SCALAR\"}]" +
         example.more + "}";
}

inline std::string glb_bytes(GltfExample example) {
  example.uri.clear();
  std::string json = gltf_text(example);
  json.resize((json.size() + 3) / 4 * 4, ' ');
  const std::string buffer = gltf_buffer();
  return "glTF" + raw(uint32_t{2}) + raw(static_cast<uint32_t>(28 + json.size() + buffer.size())) +
         raw(static_cast<uint32_t>(json.size())) + "JSON" + json + raw(static_cast<uint32_t>(buffer.size())) +
         std::string("BIN\0", 4) + buffer;
}

}  // namespace geosft::test
