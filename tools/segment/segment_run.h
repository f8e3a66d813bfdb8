// SPDX-License-Identifier: Apache-2.0
// Loads a trained part segmentation model from a RUN folder.
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

  // Returns "Chair/seat".
  std::string part_name(int64_t part) const;
};

// Describes the run for its observer.
RunDescription describe_run(SegmentSettings settings, const std::vector<std::string>& class_names,
                            const PartList& parts, bool held_out);

// Loads a RUN folder (its best checkpoint) or a checkpoint file. Throws if another tool wrote it.
SegmentRun load_segment_run(const std::filesystem::path& run);
// Makes the model of a checkpoint; `file` names it in messages.
SegmentRun segment_run_of(const Checkpoint& checkpoint, const std::filesystem::path& file);

// Returns whether this tool wrote a RUN folder or checkpoint. Throws the errors of loading it.
bool is_segment_run(const std::filesystem::path& run);

// Throws DataError naming the run's data if a dataset has other classes or parts than the run.
void check_same_parts(const SegmentRun& trained, const PartDataset& dataset);

}  // namespace geosft
