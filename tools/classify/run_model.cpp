// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/run_model.h"

namespace geosft {
namespace {

constexpr const char* kind = "geosft-classify";

}  // namespace

RunDescription describe_run(ClassifySettings settings, const std::vector<std::string>& class_names) {
  RunDescription run;
  run.kind = kind;
  run.config = settings.config().to_toml();
  run.names = class_names;
  run.data = settings.data;
  run.epochs = settings.train.epochs;
  run.checkpoint_every = settings.train.checkpoint_every;
  run.held_out = settings.clouds.validation_fraction > 0;
  return run;
}

RunModel load_run_model(const std::filesystem::path& run) {
  std::filesystem::path file;
  const Checkpoint checkpoint = load_run_checkpoint(run, file);
  return run_model_of(checkpoint, file);
}

RunModel run_model_of(const Checkpoint& checkpoint, const std::filesystem::path& file) {
  RunModel loaded;
  loaded.class_names = run_names(checkpoint, kind, file);
  read_run_config(file, [&] {
    loaded.settings.config().set_text(run_text(checkpoint, kind, "config", file), "its configuration");
  });
  loaded.model = PointClassifier(loaded.settings.classifier(static_cast<int64_t>(loaded.class_names.size())));
  load_run_weights(*loaded.model, checkpoint, file);
  loaded.model->eval();
  return loaded;
}

}  // namespace geosft
