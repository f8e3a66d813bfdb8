// SPDX-License-Identifier: Apache-2.0
// Defines what geosft-segment predict prints and writes for each file, or each cloud of a dataset.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "tools/experiment/cloud_commands.h"
#include "tools/experiment/coloured_ply.h"
#include "tools/experiment/plots.h"
#include "tools/segment/segment_prediction.h"

namespace geosft {

struct SegmentOutput {
  static constexpr PredictHelp help{
      "draw to PICTURE.png and .svg; of several files: a folder",
      "write points or mesh, coloured by part, with the label of the part and the normals that were read, of meshes "
      "those "
      "of OBJ, PLY and NPZ; of several files: a folder",
      "also write a table to this file, a row a part of a file, with an error in the last column"};
  std::string category, labels;
  BlockKind kind = BlockKind::spread;

  void add_to(CLI::App& subcommand);
  // Warns of each class, --category or those of the clouds of a set, without a shape in the training of the RUN.
  void warn(const SegmentRun& trained, const SetClouds& set) const;
  // Prepares the files of --labels, and makes predictions end at a signal.
  void begin(const InputFiles& inputs);
  // Shows progress on stderr for large clouds. Throws Interrupted if a signal arrives meanwhile.
  PartPrediction predict(SegmentRun& trained, const std::string& file, const FileOptions& reading) const;
  // Predicts a cloud of a dataset, with its own class and without progress, which is that of all clouds. Throws
  // Interrupted likewise.
  PartPrediction predict(SegmentRun& trained, Shape cloud, const FileOptions& reading) const;
  static std::string text(const std::string& file, const PartPrediction& prediction, const SegmentRun& trained);
  static nlohmann::json json(const std::string& file, const PartPrediction& prediction, const SegmentRun& trained);
  static std::vector<std::string> csv_head(const SegmentRun& trained);
  // Returns a row per part that was found.
  static std::vector<std::vector<std::string>> csv_rows(const std::string& file, const PartPrediction& prediction,
                                                        const SegmentRun& trained);
  static ColouredPly coloured(const PartPrediction& prediction, const SegmentRun& trained);
  static PlotResult draw(const std::filesystem::path& picture, const std::string& file,
                         const PartPrediction& prediction, const SegmentRun& trained);
  // Writes the labels of the file with this index.
  void write_more(size_t file, const PartPrediction& prediction, const SegmentRun& trained) const;

 private:
  std::optional<OutputFiles> label_files_;
};

}  // namespace geosft
