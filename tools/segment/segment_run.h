// SPDX-License-Identifier: Apache-2.0
// A trained model of parts as it lies in a RUN folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/points/part_dataset.h"
#include "tools/experiment/run_observer.h"
#include "tools/segment/segment_settings.h"

namespace geosft {

struct SegmentRun {
  SegmentSettings settings;
  std::vector<std::string> class_names;
  PartList parts;
  PointSegmenter model{nullptr};

  // "Chair/seat"
  std::string part_name(int64_t part) const;
};

// What the observer of a run needs to know of it.
RunDescription describe_run(SegmentSettings settings, const std::vector<std::string>& class_names,
                            const PartList& parts, bool held_out);

// Loads a RUN folder (its best checkpoint) or a checkpoint file. Throws when it is not one of this tool.
SegmentRun load_segment_run(const std::filesystem::path& run);

// Whether a RUN folder or checkpoint is one of this tool. Throws what loading it throws.
bool is_segment_run(const std::filesystem::path& run);

// Throws DataError, naming the run's data, when a dataset has other classes or parts than the run.
void check_same_parts(const SegmentRun& trained, const PartDataset& dataset);

}  // namespace geosft
