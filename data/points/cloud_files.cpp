// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"

#include <algorithm>

#include "data/formats/hdf5_file.h"
#include "data/read_file.h"
#include "data/safe_join.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Refuses a -1 that an unsigned type has made a large number; other parts are checked where all files are joined.
void check_unsigned_parts(const Hdf5File& file, const at::Tensor& stored, size_t parts, const std::string& path) {
  if (stored.numel() == 0) return;
  const auto max = stored.max().item<int64_t>();
  if (max < static_cast<int64_t>(parts) || file.unsigned_max("pid") != max) return;
  throw DataError(path + ":pid", "parts from 0 to " + std::to_string(parts - 1) + ", or -1 without a label",
                  "part " + std::to_string(max) + ", the maximum of its unsigned type: -1 needs a signed type");
}

CloudArrays read_arrays(const fs::path& path, size_t classes, size_t parts) {
  const Hdf5File file(path);
  CloudArrays arrays;
  set_clouds(arrays, file.read_real("data"));
  arrays.labels = file.read_int("label");
  if (file.has("normal")) arrays.normals = file.read_float("normal");
  if (arrays.points.dim() != 3) throw DataError(path.string() + ":data", "shape [N, P, 3]", shape_text(arrays.points));
  if (arrays.labels.numel() != arrays.points.size(0)) {
    throw DataError(path.string() + ":label", std::to_string(arrays.points.size(0)) + " labels, one a cloud",
                    shape_text(arrays.labels));
  }
  arrays.labels = arrays.labels.flatten();
  if (parts > 0 && file.has("pid")) {
    arrays.parts = file.read_int("pid");
    check_unsigned_parts(file, arrays.parts, parts, path.string());
  }
  check_clouds(arrays, classes, path.string());
  arrays.names = numbered_clouds(path, arrays.points.size(0));
  return arrays;
}

// Describes the properties that must agree in all files of a dataset.
std::string form_of(const CloudArrays& arrays) {
  return shape_text(arrays.points) + (arrays.normals.defined() ? " with normals" : " without normals") +
         (arrays.parts.defined() ? ", with parts" : "");
}

CloudArrays join(const std::vector<CloudArrays>& files, const std::vector<fs::path>& names) {
  std::vector<at::Tensor> points, normals, labels, parts, offsets;
  const bool with_offset =
      std::any_of(files.begin(), files.end(), [](const CloudArrays& one) { return one.offset.defined(); });
  CloudArrays all;
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].points.sizes().slice(1) != files[0].points.sizes().slice(1) ||
        files[i].normals.defined() != files[0].normals.defined() ||
        files[i].parts.defined() != files[0].parts.defined()) {
      throw DataError(names[i].string(), "clouds as in " + names[0].filename().string() + ": " + form_of(files[0]),
                      form_of(files[i]));
    }
    points.push_back(files[i].points);
    labels.push_back(files[i].labels);
    if (files[i].normals.defined()) normals.push_back(files[i].normals);
    if (files[i].parts.defined()) parts.push_back(files[i].parts);
    if (with_offset) {
      const at::Tensor none = at::zeros({files[i].points.size(0), 3}, at::kDouble);
      offsets.push_back(files[i].offset.defined() ? files[i].offset : none);
    }
    all.names.insert(all.names.end(), files[i].names.begin(), files[i].names.end());
  }
  all.points = at::cat(points);
  all.labels = at::cat(labels);
  if (!normals.empty()) all.normals = at::cat(normals);
  if (!parts.empty()) all.parts = at::cat(parts);
  if (with_offset) all.offset = at::cat(offsets);
  return all;
}

}  // namespace

std::vector<fs::path> listed_clouds(const fs::path& list) {
  const std::vector<std::string> lines = read_lines(list);
  std::vector<fs::path> files;
  files.reserve(lines.size());
  for (const std::string& line : lines) {
    files.push_back(list.parent_path() / safe_join({}, line, list).filename());
  }
  return files;
}

std::vector<fs::path> unlisted_clouds(const fs::path& folder, const std::string& split) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("ply_data_" + split) && entry.path().extension() == ".h5") files.push_back(entry);
  }
  std::sort(files.begin(), files.end());
  return files;
}

CloudArrays read_clouds(const std::vector<fs::path>& files, size_t classes, size_t parts) {
  TORCH_CHECK(!files.empty(), "files: expected at least one, found none");
  std::vector<CloudArrays> found;
  found.reserve(files.size());
  for (const fs::path& file : files) found.push_back(read_arrays(file, classes, parts));
  return join(found, files);
}

}  // namespace geosft
