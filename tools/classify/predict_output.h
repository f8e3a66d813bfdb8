// SPDX-License-Identifier: Apache-2.0
// Defines what geosft-classify predict prints and writes for each file.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "tools/classify/prediction.h"
#include "tools/experiment/cloud_commands.h"
#include "tools/experiment/coloured_ply.h"
#include "tools/experiment/plots.h"

namespace geosft {

struct ClassifyOutput {
  static constexpr PredictHelp help{
      "draw the cloud coloured by token importance to PICTURE.png and .svg; of several files: a folder",
      "write the same cloud, coloured, in the file's coordinates and with its normals, for a mesh those of its faces; "
      "of several files: a folder",
      "also write a table to this file, a row a file, with an error in the last column"};
  int64_t top = 3;  // classes that are shown

  void add_to(CLI::App& subcommand);
  void begin(const InputFiles&) const {}
  Prediction predict(RunModel& trained, const std::string& file, const FileOptions& reading) const {
    return geosft::predict(trained, file, top, reading);
  }
  static std::string text(const std::string& file, const Prediction& prediction, const RunModel& trained);
  static nlohmann::json json(const std::string& file, const Prediction& prediction, const RunModel& trained);
  std::vector<std::string> csv_head(const RunModel& trained) const;
  // Returns one row: the file, and pairs of class and probability.
  static std::vector<std::vector<std::string>> csv_rows(const std::string& file, const Prediction& prediction,
                                                        const RunModel& trained);
  static ColouredPly coloured(const Prediction& prediction, const RunModel& trained);
  static PlotResult draw(const std::filesystem::path& picture, const std::string& file, const Prediction& prediction,
                         const RunModel& trained);
  void write_more(size_t, const Prediction&, const RunModel&) const {}
};

}  // namespace geosft
