// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "data/read_file.h"
#include "data/shape_file.h"
#include "models/summary.h"
#include "tools/classify/commands.h"
#include "tools/classify/run_model.h"
#include "tools/common/runtime_options.h"

namespace geosft {
namespace {

void describe_run(const std::filesystem::path& run) {
  const RunModel trained = load_run_model(run);
  ClassifySettings settings = trained.settings;
  std::cout << settings.config().to_toml() << "\nclasses (" << trained.class_names.size() << "):";
  for (const std::string& name : trained.class_names) std::cout << ' ' << name;
  std::cout << "\n\n" << summary(*trained.model);
}

void describe_shape(const std::filesystem::path& file) {
  const FileShape shape = parse_shape(read_file(file), file.string());
  const at::Tensor& points = shape.mesh.vertices;
  const at::Tensor low = std::get<0>(points.min(0));
  const at::Tensor high = std::get<0>(points.max(0));
  std::cout << file.string() << ": ";
  if (shape.is_mesh()) {
    std::cout << "a mesh of " << points.size(0) << " vertices and " << shape.mesh.faces.size(0) << " triangles\n";
  } else {
    std::cout << "a cloud of " << points.size(0) << " points "
              << (shape.normals.defined() ? "with normals\n" : "without normals\n");
  }
  for (int64_t axis = 0; axis < 3; ++axis) {
    std::cout << "xyz"[axis] << " from " << low[axis].item<double>() << " to " << high[axis].item<double>() << '\n';
  }
}

struct InfoCommand {
  std::filesystem::path what;
  uint64_t seed = 0;
  RuntimeOptions runtime;

  int execute() const {
    runtime.apply();
    if (std::filesystem::is_directory(what) || what.extension() == ".ckpt") {
      describe_run(what);
    } else {
      describe_shape(what);
    }
    return 0;
  }
};

}  // namespace

Command add_info_command(CLI::App& verb) {
  auto command = std::make_shared<InfoCommand>();
  verb.add_option("WHAT", command->what, "RUN folder, checkpoint (*.ckpt), or a file with a shape")->required();
  verb.add_option("--seed", command->seed, "as for the other commands; this one draws nothing")
      ->check(CLI::NonNegativeNumber);
  command->runtime.add_to(verb);
  return [command] { return command->execute(); };
}

}  // namespace geosft
