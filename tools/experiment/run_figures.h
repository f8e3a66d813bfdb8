// SPDX-License-Identifier: Apache-2.0
// Finds the figures of an evaluation that a run holds already, for the subcommand info.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace geosft {

// Returns the figures of `run`, a RUN folder, its best.ckpt or the name of a pretrained model:
//   "result"    of a finished run: its result.json
//   "outdated"  beside it, if best.ckpt is of a later epoch than result.json, as in a resumed run: that epoch
//   "scores"    of a pretrained model: those of its card
// An empty object for a run without them and for other checkpoints. Throws DataError for a result.json of another form.
nlohmann::json run_figures(const std::filesystem::path& run);

// Formats them in one line for each evaluation; empty without any.
std::string figures_text(const nlohmann::json& figures);

}  // namespace geosft
