// SPDX-License-Identifier: Apache-2.0
// Small sets of shapes with parts, in every published form.
#pragma once

#include <sstream>

#include "data/points/shape.h"
#include "tests/data/files.h"
#include "tests/data/hdf5_files.h"
#include "tests/support.h"

namespace geosft::test {

// Clouds of `count` shapes with `points` points, of classes 0 and 1 in turns: parts 0, 1 and 2 of class 0 and parts 3
// and 4 of class 1, by height.
struct PartClouds {
  at::Tensor points, normals, labels, parts;

  PartClouds(int64_t count, int64_t size, uint64_t seed) {
    points = at::randn({count, size, 3}, generator(seed));
    normals = at::randn({count, size, 3}, generator(seed + 1));
    normals = normals / normals.norm(2, 2, true);
    labels = at::arange(count, at::kLong) % 2;
    const at::Tensor height = points.select(2, 2), lower = (height < -0.4).to(at::kLong);
    const at::Tensor first = lower + (height < 0.4).to(at::kLong), second = 3 + (height < 0).to(at::kLong);
    parts = at::where(labels.unsqueeze(1) == 0, first, second);
  }
  std::map<std::string, at::Tensor> arrays(bool with_normals = true) const {
    const at::ScalarType type = parts.min().item<int64_t>() < 0 ? at::kInt : at::kByte;
    std::map<std::string, at::Tensor> found = {
        {"data", points}, {"label", labels.unsqueeze(1).to(at::kByte)}, {"pid", parts.to(type)}};
    if (with_normals) found["normal"] = normals;
    return found;
  }
  // Removes the labels of every third point, and all labels of the first cloud.
  PartClouds& remove_labels() {
    parts = parts.masked_fill(at::arange(parts.numel(), at::kLong).view_as(parts) % 3 == 0, unlabelled_part);
    parts[0].fill_(unlabelled_part);
    return *this;
  }
};

// The form of psb_parts: classes "lamp" and "mug" with 3 and 2 parts.
inline void write_part_set(const std::filesystem::path& folder, int64_t training = 6, int64_t testing = 4,
                           int64_t points = 64, bool with_normals = true) {
  write_text(folder / "shape_names.txt", "lamp\nmug\n");
  write_text(folder / "parts.txt", "0 lamp top\n1 lamp pole\n2 lamp foot\n3 mug cup\n4 mug base\n");
  write_hdf5(folder / "ply_data_train0.h5", PartClouds(training, points, 1).arrays(with_normals));
  write_hdf5(folder / "ply_data_test0.h5", PartClouds(testing, points, 5).arrays(with_normals));
}

// The clouds of write_part_set as files lamp/NUMBER.* and mug/NUMBER.*, with labels from 0 in each class: PLY, PCD and
// tables in turns, each with a point less than the one before.
inline void write_labelled_tree(const std::filesystem::path& folder, int64_t count = 8, int64_t points = 64) {
  const PartClouds clouds(count, points, 1);
  for (int64_t i = 0; i < count; ++i) {
    const bool is_lamp = i % 2 == 0;
    const int64_t size = points - i;
    std::ostringstream rows;
    rows.precision(9);
    for (int64_t row = 0; row < size; ++row) {
      for (const at::Tensor& values : {clouds.points, clouds.normals}) {
        for (int64_t axis = 0; axis < 3; ++axis) rows << values[i][row][axis].item<float>() << ' ';
      }
      rows << clouds.parts[i][row].item<int64_t>() - (is_lamp ? 0 : 3) << '\n';
    }
    const std::string file = std::string(is_lamp ? "lamp/" : "mug/") + std::to_string(i), number = std::to_string(size);
    std::string head = "ply\nformat ascii 1.0\nelement vertex " + number + "\n";
    for (const char* name : {"x", "y", "z", "nx", "ny", "nz", "scalar_label"}) {
      head += std::string("property float ") + name + "\n";
    }
    if (i / 2 % 3 == 0) write_text(folder / (file + ".ply"), head + "end_header\n" + rows.str());
    head = "FIELDS x y z nx ny nz label\nSIZE 4 4 4 4 4 4 4\nTYPE F F F F F F I\nPOINTS " + number + "\nDATA ascii\n";
    if (i / 2 % 3 == 1) write_text(folder / (file + ".pcd"), head + rows.str());
    if (i / 2 % 3 == 2) write_text(folder / (file + ".txt"), "x y z nx ny nz part\n" + rows.str());
  }
}

// One shape of ShapeNetPart with normals, `rows` lines whose parts are `first` and the next in turns.
inline std::string labelled_lines(int rows, int first) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    text += std::to_string(0.5 + i) + " " + std::to_string(0.25 * (i % 3)) + " 0.125 0.0 0.0 1.0 " +
            std::to_string(first + i % 2) + ".000000\n";
  }
  return text;
}

inline std::string shape_list(const std::vector<std::string>& shapes) {
  std::string text = "[";
  for (const std::string& shape : shapes)
    text += (text.size() > 1 ? ", \"shape_data/" : "\"shape_data/") + shape + "\"";
  return text + "]";
}

// ShapeNetPart as text: two airplanes and a mug, one more airplane to validate with, a mug to test with.
inline void write_shapenet_split(const std::filesystem::path& folder) {
  write_text(folder / "synsetoffset2category.txt", "Airplane\t02691156\nMug\t03797390\n");
  const std::filesystem::path lists = folder / "train_test_split";
  write_text(lists / "shuffled_train_file_list.json", shape_list({"03797390/m1", "02691156/a1", "02691156/a2"}));
  write_text(lists / "shuffled_val_file_list.json", shape_list({"02691156/a3"}));
  write_text(lists / "shuffled_test_file_list.json", shape_list({"03797390/m2"}));
}

inline void write_shapenet_text(const std::filesystem::path& folder) {
  write_shapenet_split(folder);
  for (const char* id : {"a1", "a2", "a3"})
    write_text(folder / "02691156" / (std::string(id) + ".txt"), labelled_lines(5, 2));
  for (const char* id : {"m1", "m2"})
    write_text(folder / "03797390" / (std::string(id) + ".txt"), labelled_lines(4, 36));
}

// The older form, with its parts counted from 1 in each class.
inline void write_older_shapenet_text(const std::filesystem::path& folder) {
  write_shapenet_split(folder);
  for (const std::string shape : {"02691156/a1", "02691156/a2", "02691156/a3", "03797390/m1", "03797390/m2"}) {
    const std::filesystem::path synset = folder / shape.substr(0, 8);
    write_text(synset / "points" / (shape.substr(9) + ".pts"), "0.5 0 0\n0 0.25 0\n0 0 -1\n");
    write_text(synset / "points_label" / (shape.substr(9) + ".seg"), "2\n1\n2\n");
  }
}

}  // namespace geosft::test
