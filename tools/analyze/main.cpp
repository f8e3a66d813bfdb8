// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/commands.h"
#include "tools/experiment/main_guard.h"

namespace {

const std::vector<geosft::Subcommand> subcommands = {
    {"rank", "rank of equal tokens over random layers, with and without the leak", geosft::add_rank_command},
    {"depth", "rank and similarity of tokens after each layer of a trained classifier", geosft::add_depth_command},
    {"heads", "how differently the heads of a trained classifier look", geosft::add_heads_command},
    {"embedding", "tokens of a trained classifier in the plane, coloured by class", geosft::add_embedding_command},
    {"sampling", "which points the sampler keeps while a classifier is trained", geosft::add_sampling_command},
    {"ablations", "trains variants of a configuration: a table", geosft::add_ablations_command},
    {"gradients", "gradient norms at initialisation against the number of tokens", geosft::add_gradients_command},
    {"pseudoconvexity", "contradictions to pseudoconvexity on random segments", geosft::add_pseudoconvexity_command},
    {"family", "work, time and memory of the primal-dual attentions against tokens", geosft::add_family_command},
    {"cost", "time and memory of the attentions against tokens and keys", geosft::add_cost_command},
};

constexpr const char* description = "The analyses of the Sampling Foundational Transformer, as pictures and numbers";

}  // namespace

int main(int argc, char** argv) {
  geosft::end_process(geosft::run_tool("geosft-analyze",
                                       [&] { return geosft::run_subcommands(description, subcommands, argc, argv); }));
}
