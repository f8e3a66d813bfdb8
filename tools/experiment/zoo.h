// SPDX-License-Identifier: Apache-2.0
// The zoo: pretrained models that come with the toolkit. Each is a RUN folder with a card that says where it comes
// from, and its name may stand wherever a RUN folder may.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace geosft {

// Returns the folder of the zoo: $GEOSFT_ZOO if it is set, otherwise share/geosft/zoo of the build tree or install
// prefix that this library belongs to. Empty if there is none.
std::filesystem::path zoo_folder();

// Returns the names of the models in the zoo, sorted; only those that `tool` ("geosft-classify") made, unless it is
// empty. Throws DataError for a card that cannot be read.
std::vector<std::string> zoo_models(const std::string& tool = "");
// Returns that the zoo has no model of `tool`, and which folder GEOSFT_ZOO names, if it is set.
std::string no_zoo_models_text(const std::string& tool);

// Returns the card of a model (tools/zoo/README.md lists its fields). Throws DataError if it is absent or invalid.
nlohmann::json zoo_card(const std::string& name);

// Returns the RUN folder or checkpoint that the user means: `run` itself if it is a file or a folder with a run,
// otherwise the model of the zoo with this name, otherwise `run`.
std::filesystem::path resolve_run(const std::filesystem::path& run);

// Returns whether `what` names a RUN folder, a checkpoint (*.ckpt) or a model of the zoo.
bool names_run(const std::filesystem::path& what);

}  // namespace geosft
