// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/cloud_commands.h"

#include <CLI/CLI.hpp>

#include "data/formats/shape_file.h"

namespace geosft {

void PredictArguments::add_to(CLI::App& subcommand, const PredictHelp& help) {
  subcommand.add_option("RUN", run, "RUN folder, or a checkpoint file")->required();
  subcommand
      .add_option("FILE", files,
                  "meshes or clouds: " + shape_extensions() + "; folders of them, or patterns such as 'a/*.off'")
      ->required();
  subcommand.add_flag("--json", json, "print one JSON object a file");
  subcommand.add_option("--csv", csv, help.csv)->check(unwritable);
  subcommand.add_flag("--fail-fast", fail_fast, "stop at the first file that cannot be read");
  subcommand.add_option("--picture", picture, help.picture);
  subcommand.add_option("--ply", ply, help.ply);
  reading.add_to(subcommand);
}

void ReportArguments::add_to(CLI::App& subcommand, const std::vector<std::string>& splits) {
  subcommand.add_option("RUN", run, "RUN folder")->required();
  subcommand.add_option("--out", out, "HTML file to write (default: RUN/report.html)");
  subcommand.add_option("--split", split, "which clouds")->check(CLI::IsMember(splits))->capture_default_str();
  subcommand.add_option("--mistakes", mistakes, "how many of the worst predictions are drawn")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
}

Command cloud_info_command(CLI::App& subcommand, const std::string& data_help, const CloudDescriptions& descriptions) {
  struct Arguments {
    FileOptions reading;
    bool json = false;
  };
  const auto given = std::make_shared<Arguments>();
  const auto describe = [given, descriptions](const std::filesystem::path& what) {
    const std::string& columns = given->reading.columns;
    const bool folder = std::filesystem::is_directory(what);
    // A name may be that of a dataset and of a pretrained model (furniture): both are described.
    const bool run = names_run(what),
               data = !RunFolder::holds_run(what) && (descriptions.holds_clouds(what) || (folder && !run));
    if (data) descriptions.print_dataset(what, given->json);
    if (data && run && !given->json) std::cout << "\nthe pretrained model " << what.string() << ":\n";
    if (run) descriptions.print_run(what, given->json);
    if (data || run) return;
    std::cout << (given->json ? json_line(shape_file_json(what, columns)) : shape_file_text(what, columns));
  };
  return info_command(subcommand, "RUN folder, checkpoint (*.ckpt), file with a shape, or " + data_help, describe,
                      [given](CLI::App& app) {
                        given->reading.add_columns_to(app);
                        app.add_flag("--json", given->json, "print one JSON object");
                      });
}

}  // namespace geosft
