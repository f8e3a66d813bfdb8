// SPDX-License-Identifier: Apache-2.0
// A model of five parts in two classes that runs in milliseconds, and shapes for it.
#pragma once

#include "data/points/array_dataset.h"
#include "tests/data/points/part_files.h"
#include "tests/tools/experiment/small_cloud_settings.h"
#include "tools/experiment/segmentation.h"

namespace geosft::test {

inline SegmentSettings small_segment_settings(const std::string& tokens = "radial") {
  auto settings = small_cloud_settings<SegmentSettings>(tokens);
  settings.workers = 0;
  return settings;
}

inline const std::vector<std::string> small_classes = {"lamp", "mug"};
inline PartList small_parts() {
  return {{"top", 0, 0}, {"pole", 0, 1}, {"foot", 0, 2}, {"cup", 1, 3}, {"base", 1, 4}};
}

inline PointSegmenter small_segmenter(const SegmentSettings& settings) {
  at::manual_seed(5);
  return PointSegmenter(settings.segmenter(5, 2));
}

inline SegmentRun small_segment_run(const SegmentSettings& settings) {
  return {{{small_classes}, small_parts()}, settings, small_segmenter(settings)};
}

inline ArrayDataset part_dataset(const PartClouds& clouds) {
  CloudArrays arrays{clouds.points, clouds.normals, {}, clouds.labels, {}, clouds.parts};
  for (int64_t i = 0; i < clouds.labels.size(0); ++i) arrays.names.push_back(std::to_string(i));
  return ArrayDataset(arrays, small_classes, "parts");
}

inline ArrayDataset part_dataset(int64_t count = 6, int64_t points = 50) {
  return part_dataset(PartClouds(count, points, 3));
}

}  // namespace geosft::test
