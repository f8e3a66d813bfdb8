// SPDX-License-Identifier: Apache-2.0
// Options of the subcommands that read files with clouds.
#pragma once

#include <string>

#include "data/points/point_dataset.h"

namespace CLI {
class App;
}

namespace geosft {

struct FileOptions {
  std::string columns = {};  // of tables of text, such as "x,y,z,r,g,b"; empty: by header and values
  bool drop_invalid = true;  // leave out points without finite coordinates; otherwise they are an error

  // Adds --columns and --drop-invalid; or --columns alone.
  void add_to(CLI::App& subcommand);
  void add_columns_to(CLI::App& subcommand);
  void apply(PointDatasetOptions& options) const {
    options.columns = columns;
    options.drop_invalid = drop_invalid;
  }
};

}  // namespace geosft
