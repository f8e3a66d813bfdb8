// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/run_model.h"

#include <functional>
#include <sstream>

#include "models/training/training_loop.h"
#include "tools/common/arguments.h"
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

// An error of `step` becomes one of the file.
void from_file(const std::filesystem::path& file, const char* expected, const std::function<void()>& step) {
  try {
    step();
  } catch (const UsageError& error) {
    throw DataError(file, expected, error.what());
  } catch (const c10::Error& error) {
    throw DataError(file, expected, error.what_without_backtrace());
  }
}

}  // namespace

std::map<std::string, std::string> checkpoint_texts(ClassifySettings settings,
                                                    const std::vector<std::string>& class_names) {
  std::string classes;
  for (const std::string& name : class_names) classes += name + "\n";
  return {{"kind", kind}, {"config", settings.config().to_toml()}, {"classes", classes}, {"version", version_text()}};
}

std::vector<std::string> checkpoint_classes(const Checkpoint& checkpoint, const std::filesystem::path& file) {
  if (text(checkpoint, file, "kind") != kind) {
    throw DataError(file, "a checkpoint of geosft-classify", "one of " + text(checkpoint, file, "kind"));
  }
  return lines(text(checkpoint, file, "classes"));
}

RunModel load_run_model(const std::filesystem::path& run) {
  const std::filesystem::path file = std::filesystem::is_directory(run) ? RunFolder::open(run).best_checkpoint() : run;
  const Checkpoint checkpoint = load_checkpoint(file);
  RunModel loaded;
  loaded.class_names = checkpoint_classes(checkpoint, file);
  from_file(file, "a configuration that this version knows",
            [&] { loaded.settings.config().set_text(text(checkpoint, file, "config"), "its configuration"); });
  loaded.model = PointClassifier(loaded.settings.classifier(static_cast<int64_t>(loaded.class_names.size())));
  std::map<std::string, at::Tensor> weights;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (name.rfind("model.", 0) == 0) weights.emplace(name.substr(6), tensor);
  }
  from_file(file, "the weights of its configuration", [&] { load_module_state(*loaded.model, weights); });
  loaded.model->eval();
  return loaded;
}

}  // namespace geosft
