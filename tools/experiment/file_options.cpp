// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/file_options.h"

#include <CLI/CLI.hpp>

#include "data/formats/point_columns.h"

namespace geosft {

void FileOptions::add_columns_to(CLI::App& subcommand) {
  subcommand
      .add_option("--columns", columns,
                  "of tables of text or NumPy, such as x,y,z,r,g,b or x,y,z,nx,ny,nz (default: by header and values)")
      ->check(columns_error);
}

void FileOptions::add_to(CLI::App& subcommand) {
  add_columns_to(subcommand);
  subcommand.add_flag("--drop-invalid,!--no-drop-invalid", drop_invalid,
                      "leave out points without finite coordinates (default)");
}

}  // namespace geosft
