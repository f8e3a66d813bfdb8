// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/run_model.h"

#include <sstream>

#include "models/training/training_loop.h"
#include "tools/common/run_folder.h"

namespace geosft {
namespace {

constexpr const char* kind = "geosft-classify";

const std::string& text(const Checkpoint& checkpoint, const std::filesystem::path& file, const std::string& name) {
  const auto found = checkpoint.texts.find(name);
  if (found == checkpoint.texts.end())
    throw DataError(file, "a checkpoint of geosft-classify", "no text '" + name + "'");
  return found->second;
}

std::vector<std::string> lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> found;
  for (std::string line; std::getline(in, line);) found.push_back(line);
  return found;
}

}  // namespace

std::map<std::string, std::string> checkpoint_texts(ClassifySettings settings,
                                                    const std::vector<std::string>& class_names) {
  std::string classes;
  for (const std::string& name : class_names) classes += name + "\n";
  return {{"kind", kind}, {"config", settings.config().to_toml()}, {"classes", classes}, {"version", version_text()}};
}

RunModel load_run_model(const std::filesystem::path& run) {
  const std::filesystem::path file = std::filesystem::is_directory(run) ? RunFolder::open(run).best_checkpoint() : run;
  const Checkpoint checkpoint = load_checkpoint(file);
  if (text(checkpoint, file, "kind") != kind) {
    throw DataError(file, "a checkpoint of geosft-classify", "one of " + text(checkpoint, file, "kind"));
  }
  RunModel loaded;
  loaded.settings.config().set_text(text(checkpoint, file, "config"), file.string());
  loaded.class_names = lines(text(checkpoint, file, "classes"));
  loaded.model = PointClassifier(loaded.settings.classifier(static_cast<int64_t>(loaded.class_names.size())));
  std::map<std::string, at::Tensor> weights;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (name.rfind("model.", 0) == 0) weights.emplace(name.substr(6), tensor);
  }
  load_module_state(*loaded.model, weights);
  loaded.model->eval();
  return loaded;
}

}  // namespace geosft
