// SPDX-License-Identifier: Apache-2.0
#include "tests/places.h"
#include "tools/experiment/graph_settings.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <set>

#include "tests/support.h"
#include "tests/tools/experiment/small_graph_model.h"
#include "tests/tools/experiment/unused_options.h"
#include "tests/tools/graph/graph_tool.h"
#include "tests/tools/sequence/sequence_tool.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_graph_settings {

TEST_CASE("keys of a graph experiment reach the options of the model") {
  GraphSettings settings;
  settings.config().set_text(
      "data = 'x'\nrepeats = 3\nevery_fold = true\n[splits]\nfold = 2\nfolds = 5\n[model]\nencoding = 'lappe'\n"
      "encoding_columns = 7\nrelative = false\nhead = 'sample_max'\nhead_bins = 9\nhead_dropout = 0.25\nlayers = 2\n"
      "[train]\ndrop_tokens = 0.5\nmetric = 'roc_auc'\n");
  ItemSchema schema{GraphTask::classification, {3, 4}, 2, {5}, 1, false, {"a", "b", "c"}};
  GraphModelOptions options = settings.graph_model(schema);
  CHECK(options.node_vocabulary == std::vector<int64_t>{3, 4});
  CHECK(options.node_values == 2);
  CHECK(options.edge_vocabulary == std::vector<int64_t>{5});
  CHECK(options.edge_values == 1);
  CHECK(options.encoding == 7);
  CHECK(options.signed_encoding);
  CHECK_FALSE(options.relative);
  CHECK(options.outputs == 3);
  CHECK(options.distance_channels == 0);
  CHECK(options.layers == 2);
  CHECK(options.positions == NodePositions::none);
  CHECK(options.head == GraphHead::sample_max);
  CHECK(options.head_sampler.num_samples == 9);
  CHECK(options.head_dropout == 0.25);
  GraphSettings sequences;
  sequences.config().set_text("[model]\npositions = 'relative'\nposition_channels = 6\n");
  CHECK(sequences.graph_model(schema).positions == NodePositions::relative);
  CHECK(sequences.graph_model(schema).position_channels == 6);
  sequences.model.position_channels = 0;
  CHECK(GraphModel(sequences.graph_model(schema))->options.position_channels == sequences.model.dim);
  sequences.model.positions = NodePositions::added;
  CHECK(sequences.graph_model(schema).positions == NodePositions::added);
  GraphSettings molecules;
  molecules.model.distance_channels = 4;
  molecules.model.distance_range = 2.0;
  molecules.model.head = GraphHead::sum;
  CHECK(molecules.graph_model(schema).distance_channels == 4);
  CHECK(molecules.graph_model(schema).distance_range == 2.0);
  CHECK_FALSE(molecules.graph_model(schema).angles);
  molecules.model.angles = true;
  CHECK(molecules.graph_model(schema).angles);
  CHECK(molecules.graph_model(schema).head == GraphHead::sum);
  for (const GraphTask task : graph_tasks) {
    schema.task = task;
    CHECK((settings.graph_model(schema).head == GraphHead::nodes) == is_of_nodes(task));
  }
  settings.model.encoding = NodeEncoding::none;
  CHECK(settings.graph_model(schema).encoding == 0);
  settings.model.encoding = NodeEncoding::random_walk;
  settings.model.encoding_walks = 50;
  settings.model.encoding_seed = 6;
  CHECK(settings.model.node_encoding().encoding == NodeEncoding::random_walk);
  CHECK(settings.model.node_encoding().columns == 7);
  CHECK(settings.model.node_encoding().walks == 50);
  CHECK(settings.model.node_encoding().seed == 6);
  CHECK_FALSE(settings.graph_model(schema).signed_encoding);
  GraphSettings again;
  again.config().set_text(settings.config().to_toml());
  CHECK(again.config().to_toml() == settings.config().to_toml());
}

TEST_CASE("settings of graphs that contradict each other are refused") {
  GraphSettings settings;
  settings.check();
  settings.splits.fold = 10;
  require_error([&] { settings.check(); }, {"fold", "10"});
  settings.splits.fold = 0;
  settings.model.encoding_walks = 50;
  require_error([&] { settings.check(); }, {"encoding_walks", "rwpe", "none"});
  settings.model.encoding = NodeEncoding::random_walk;
  settings.check();
  settings.model.encoding_walks = 1;
  require_error([&] { settings.check(); }, {"encoding_walks", "2", "1"});
  settings.model.encoding_walks = 0;
  settings.model.num_heads = 5;
  require_error([&] { settings.check(); }, {"heads", "5", "144"});
}

TEST_CASE("attention sees the edges where it samples or takes its mask from them") {
  const ItemSchema schema{GraphTask::classification, {}, 1, {}, 1, false, {"a", "b"}};
  GraphSettings settings;
  settings.model.distance_channels = 4;
  settings.model.attention = "bn";
  CHECK_FALSE(settings.graph_model(schema).relative);
  CHECK(settings.graph_model(schema).distance_channels == 0);
  settings.model.attention = "sparse";
  settings.model.primal.mask = MaskKind::neighbours;
  CHECK(settings.graph_model(schema).relative);
  settings.check();
  settings.model.relative = false;
  require_error([&] { settings.check(); }, {"mask neighbours", "relative"});
  settings.model.relative = true;
  settings.model.primal.mask = MaskKind::nearest;
  settings.check();
  CHECK(settings.graph_model(schema).distance_channels == 4);
  settings.model.distance_channels = 0;
  require_error([&] { settings.check(); }, {"mask nearest", "distance_channels"});
}

TEST_CASE("relative positions are refused where attention does not see them") {
  GraphSettings settings;
  settings.model.positions = NodePositions::relative;
  settings.check();
  for (const char* attention : {"softmax", "polynomial", "bn_sh", "sparse"}) {
    settings.model.attention = attention;
    require_error([&] { settings.check(); }, {"positions relative", "sampling", attention, "added"});
  }
  settings.model.positions = NodePositions::added;
  settings.check();
}

TEST_CASE("options of graphs that nothing uses are refused") {
  const auto said = [](const std::string& toml, const std::vector<std::string>& options) {
    return said_of_unused<GraphSettings>(toml, options);
  };
  const std::string softmax = "[model]\nattention = 'softmax'\n", sampled = "[model]\nhead = 'sample_max'\n";
  CHECK(said(softmax, {"--beta", "0.1"}) == "--beta is for the bn attentions, not for attention softmax");
  CHECK(said(softmax, {"--tau", "2"}) == "--tau is for sampling, not for attention softmax");
  CHECK(said(sampled, {"--tau", "2", "--attention", "softmax"}).empty());
  CHECK(said("", {"--head-num-samples", "4"}) ==
        "--head-num-samples is for head sample_max, not for head softmax_pool");
  CHECK(said("", {"--head", "sum", "--head-dropout", "0"}) ==
        "--head-dropout is for head sample_max, mean, max or head_layers above 1, not for head sum");
  CHECK(said(sampled, {"--head-num-samples", "4", "--head-dropout", "0"}).empty());
  const std::vector<std::string> places = {"--position-channels", "4"};
  CHECK(said("", places) == "--position-channels is for positions relative, not for positions none");
  CHECK(said("[model]\npositions = 'relative'", places).empty());
  CHECK(said("[model]\nhead_bins = 4\nposition_channels = 4\ndistance_range = 2.0", {"--epochs", "1"}).empty());
}

TEST_CASE("options of distances are refused where attention sees none") {
  const auto said = [](const std::string& model, const std::vector<std::string>& options) {
    return said_of_unused<GraphSettings>("[model]\n" + model, options);
  };
  const std::vector<std::string> channels = {"--distance-channels", "4"}, range = {"--distance-range", "2"};
  CHECK(said("", {"--distance-channels", "4", "--distance-range", "2"}).empty());
  CHECK(said("attention = 'sparse'\nmask = 'nearest'", channels).empty());
  CHECK(said("attention = 'sparse'", channels) ==
        "--distance-channels is for attention sampling and mask nearest, not for attention sparse");
  CHECK_THAT(said("positions = 'relative'", channels), Catch::Contains("not for positions relative"));
  CHECK_THAT(said("relative = false", channels), Catch::Contains("not for relative = false"));
  CHECK(said("", range) == "--distance-range is for distances, not for distance_channels 0");
  CHECK(said("", {"--distance-channels", "4", "--angles"}).empty());
  CHECK(said("", {"--angles"}) == "--angles is for distances, not for distance_channels 0");
  CHECK(said("attention = 'sparse'\nmask = 'nearest'\ndistance_channels = 4", {"--angles"}) ==
        "--angles is for attention sampling, not for attention sparse");
  CHECK(said("attention = 'bn'\ndistance_channels = 4", range) ==
        "--distance-range is for attention sampling, not for attention bn");
}

TEST_CASE("sequences alone are cut on the command line") {
  const TemporaryFolder folder;
  write_tiny_graphs(folder / "graphs");
  write_waves(folder / "waves");
  const auto said = [&](const std::string& data, const std::string& longest) {
    return said_of_unused<GraphSettings>("data = '" + (folder / data).string() + "'", {"--max-length", longest});
  };
  CHECK(said("graphs", "3") == "--max-length is for sequences, not for the graphs in " + (folder / "graphs").string());
  CHECK(said("graphs", "0").empty());
  CHECK(said("waves", "3").empty());
  CHECK(said("absent", "3").empty());
}

TEST_CASE("options of edges are refused for sequences") {
  const TemporaryFolder folder;
  write_tiny_graphs(folder / "graphs");
  write_waves(folder / "waves");
  for (const std::string name : {"--directed", "--no-coalesce"}) {
    const auto said = [&](const std::string& data) {
      return said_of_unused<GraphSettings>("data = '" + (folder / data).string() + "'", {name});
    };
    CHECK_THAT(said("waves"),
               Catch::Contains("is for graphs, not for the sequences in " + (folder / "waves").string()));
    CHECK(said("graphs").empty());
  }
}

TEST_CASE("options of splits are refused for sequences, which have one of their own, unless it is split otherwise") {
  const TemporaryFolder folder;
  write_tiny_graphs(folder / "graphs");
  write_waves(folder / "waves");
  const auto said = [&](const std::string& data, const std::string& option, const std::string& splits = "") {
    return said_of_unused<GraphSettings>("data = '" + (folder / data).string() + "'\n[splits]\n" + splits,
                                         {option, "3"});
  };
  const std::string published = "not for the published split of " + (folder / "waves").string();
  CHECK(said("waves", "--folds") == "--folds is for split folds, " + published);
  CHECK(said("waves", "--folds", "split = 'random'") == "--folds is for split folds, not for split random");
  CHECK(said("waves", "--folds", "split = 'folds'").empty());
  CHECK(said("waves", "--split-seed") ==
        "--split-seed is for folds, random splits and validation_fraction, " + published);
  for (const char* splits : {"split = 'folds'", "split = 'random'", "validation_fraction = 0.2"}) {
    CHECK(said("waves", "--split-seed", splits).empty());
  }
  CHECK(said("waves", "--split-seed", "validation_fraction = 'auto'").empty());
  for (const char* option : {"--folds", "--split-seed"}) CHECK(said("graphs", option).empty());
}

TEST_CASE("options of tables of molecules are refused for other data, and lists of a split beside another one") {
  const TemporaryFolder folder;
  write_tiny_graphs(folder / "graphs");
  write_text(folder / "m.csv", "smiles,y\nCCO,1\nCC,0\n");
  const auto said = [&](const std::string& data, const std::vector<std::string>& options,
                        const std::string& more = "") {
    return said_of_unused<GraphSettings>("data = '" + (folder / data).string() + "'\n" + more, options);
  };
  write_text(folder / "m.xyz", "1\ny=1\nHe 0 0 0\n");
  write_text(folder / "qm9/dsgdb9nsd_000001.xyz", "1\ngdb 1\nHe 0 0 0\n");
  const std::map<std::string, std::string> needs = {{"--split-folder", "a table of molecules or XYZ files"},
                                                    {"--smiles-column", "a table of molecules"},
                                                    {"--label-columns", "a table of molecules, XYZ files or QM9"}};
  for (const auto& [name, needed] : needs) {
    CHECK(said("graphs", {name, "y"}) == name + " is for " + needed + ", not for " + (folder / "graphs").string());
    CHECK(said("m.csv", {name, "y"}).empty());
    CHECK(said("absent", {name, "y"}).empty());
    if (name != "--smiles-column") CHECK(said("m.xyz", {name, "y"}).empty());
    CHECK(said("qm9", {name, "y"}).empty() == (name == "--label-columns"));
  }
  CHECK(said("m.csv", {"--split-folder", "y"}, "[splits]\nsplit = 'scaffold'") ==
        "--split-folder is for split file, not for split scaffold");
}

TEST_CASE("images and pairs of documents have models of their own") {
  ItemSchema images{GraphTask::classification, {}, 1, {}, 0, false, {"a", "b"}};
  GraphSettings settings;
  settings.model.attention = "conv2d";
  require_error([&] { settings.graph_model(images); }, {"attention", "conv2d", "grid"});
  images.grid_height = 3;
  images.grid_width = 5;
  CHECK(settings.graph_model(images).layer.primal.grid_height == 3);
  CHECK(settings.graph_model(images).layer.primal.grid_width == 5);
  settings.train.drop_token_rate = 0.1;
  require_error([&] { settings.check(); }, {"drop_token_rate", "conv2d"});
  ItemSchema documents{GraphTask::classification, {256, 2}, 0, {}, 0, false, {"a", "b"}};
  documents.documents = true;
  settings.model.attention = "bn";
  const GraphModelOptions options = settings.graph_model(documents);
  CHECK(options.documents);
  CHECK(options.head == GraphHead::pairs);
  CHECK(options.node_vocabulary == std::vector<int64_t>{256});
}

TEST_CASE("the configurations that come along load") {
  const std::map<std::string, std::set<std::string>> expected = {
      {"graph",
       {"enzymes", "graphs", "molecules", "mutag", "mutag_gcn", "mutag_gine", "nci1", "pascalvoc_sp",
        "pascalvoc_sp_rwpe", "peptides_func", "peptides_func_gatedgcn", "peptides_func_gcn", "peptides_func_gine",
        "peptides_func_rwpe", "peptides_func_short", "peptides_struct", "peptides_struct_rwpe", "proteins", "qm7"}},
      {"sequence", {"basic_motions",    "image_bn_sh",      "image_sft",       "image_small",
                    "imagenet_bn",      "imagenet_bn_sh",   "imagenet_conv2d", "imagenet_sh",
                    "imagenet_softmax", "japanese_vowels",  "listops_bn_sh",   "listops_sft",
                    "listops_small",    "pathfinder_bn_sh", "pathfinder_sft",  "pictures_small",
                    "regression",       "retrieval_bn_sh",  "retrieval_sft",   "retrieval_small",
                    "text_bn_sh",       "text_sft",         "text_small",      "uea",
                    "uwave_gestures"}}};
  for (const auto& [kind, names] : expected) {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(source_path("tools/configs/") + kind)) {
      if (entry.path().stem().string().rfind("ablations_", 0) == 0) continue;  // a list for sweep
      GraphSettings settings;
      settings.config().load_toml(entry.path());
      settings.check();
      CHECK_FALSE(settings.data.empty());
      CHECK_FALSE(settings.splits.monitor_test);
      found.insert(entry.path().stem().string());
    }
    CHECK(found == names);
  }
}

TEST_CASE("keys of convolutions and heads reach the options of the model") {
  GraphSettings settings;
  settings.config().set_text(
      "[model]\nencoding = 'rwpe'\nencoding_columns = 20\nencoding_channels = 28\nencoding_layers = 2\n"
      "max_degree = 9\nattention = 'none'\nlocal = 'gatedgcn'\nnormalization = 'batch'\nresidual = false\n"
      "jumping_knowledge = 'max'\nvirtual_node = true\nhead = 'mean'\nhead_layers = 3\nmlp_ratio = 0\ndim = 275\n"
      "[train]\nwarmup_epochs = 2.5\nweight_decay = 0.0\n");
  settings.check();
  ItemSchema schema{GraphTask::classification, {3, 4}, 2, {5}, 1, false, {"a", "b", "c"}};
  const GraphModelOptions options = settings.graph_model(schema);
  REQUIRE(options.encoding_channels == 28);
  REQUIRE(options.encoding_layers == 2);
  REQUIRE(options.max_degree == 9);
  REQUIRE(options.layer.kind == AttentionKind::none);
  REQUIRE(options.layer.local.kind == LocalKind::gated_gcn);
  REQUIRE(options.layer.normalization == NormKind::batch);
  REQUIRE_FALSE(options.layer.residual);
  REQUIRE(options.layer.expansion == 0);
  REQUIRE(options.encoder.jumping == JumpingKnowledge::max);
  REQUIRE(options.encoder.virtual_node);
  REQUIRE_FALSE(options.relative);
  REQUIRE(options.head == GraphHead::mean);
  REQUIRE(options.head_layers == 3);
  REQUIRE(settings.train.options(1).optimization.warmup_epochs == 2.5);
  settings.model.encoding = NodeEncoding::none;
  REQUIRE(settings.graph_model(schema).encoding_channels == 0);
  settings.config().set_text("[model]\nlocal = 'gine'\n");
  REQUIRE(settings.graph_model(schema).layer.local.kind == LocalKind::gine);
  settings.model.head = GraphHead::max;
  settings.model.normalization = NormKind::none;
  settings.model.jumping_knowledge = JumpingKnowledge::concatenate;
  REQUIRE(settings.graph_model(schema).head == GraphHead::max);
  REQUIRE(settings.graph_model(schema).layer.normalization == NormKind::none);
  REQUIRE(settings.graph_model(schema).encoder.jumping == JumpingKnowledge::concatenate);
  GraphSettings again;
  again.config().set_text(settings.config().to_toml());
  REQUIRE(again.config().to_toml() == settings.config().to_toml());
}

TEST_CASE("settings of convolutions that contradict each other are refused") {
  GraphSettings settings;
  settings.model.attention = "none";
  require_error([&] { settings.check(); }, {"attention none", "local", "gatedgcn"});
  settings.model.local = LocalKind::gcn;
  settings.model.dim = 275;  // which no number of heads must divide
  settings.check();
  settings.model.encoding = NodeEncoding::random_walk;
  settings.model.encoding_channels = 275;
  require_error([&] { settings.check(); }, {"encoding_channels", "275", "dim"});
  settings.model.encoding_channels = 0;
  ItemSchema documents{GraphTask::classification, {256, 2}, 0, {}, 0, false, {"a", "b"}};
  documents.documents = true;
  settings.model.head_layers = 2;
  require_error([&] { settings.graph_model(documents); }, {"head_layers", "documents"});
}

TEST_CASE("options of convolutions that nothing uses are refused") {
  const auto said = [](const std::string& toml, const std::vector<std::string>& options) {
    return said_of_unused<GraphSettings>(toml, options);
  };
  REQUIRE(said("", {"--encoding-channels", "4"}) == "--encoding-channels is for an encoding, not for encoding none");
  REQUIRE(said("[model]\nencoding = 'rwpe'", {"--encoding-layers", "2"}) ==
          "--encoding-layers is for encoding_channels above 0, not for encoding_channels 0");
  REQUIRE(said("[model]\nattention = 'none'\nlocal = 'gcn'", {"--num-heads", "2"}) ==
          "--num-heads is for attention, not for attention none");
  REQUIRE(said("[model]\nmlp_ratio = 0", {"--feed-forward-dropout", "0.1"}) ==
          "--feed-forward-dropout is for feed-forward networks, not for mlp_ratio 0");
  REQUIRE(said("", {"--head", "mean", "--head-dropout", "0.1"}).empty());
  REQUIRE(said("", {"--head-layers", "2", "--head-dropout", "0.1"}).empty());
}

TEST_CASE("keys of molecules reach the reader and the features") {
  GraphSettings settings;
  settings.config().set_text(
      "data = 'x'\nensemble = 3\n[splits]\nsplit = 'random'\nsplit_folder = 'lists'\n[molecules]\nsmiles_column = "
      "'mol'\n"
      "label_columns = 'a,\"b, c\"'\nfingerprint = 'ecfp4,path'\nfingerprint_bits = 512\ndescriptors = "
      "true\nkernel_ridge = true\n"
      "[train]\nregression_loss = 'huber'\nlabel_smoothing = 0.25\nmetric = 'roc_auc,rmse'\nmax_steps = 7\n");
  settings.check();
  const GraphReadOptions reading = settings.reading();
  REQUIRE(reading.smiles_column == "mol");
  REQUIRE(reading.label_columns == std::vector<std::string>{"a", "b, c"});
  REQUIRE(reading.split_folder == "lists");
  const GraphVectorOptions vector = settings.molecules.vector();
  REQUIRE(vector.fingerprints == std::vector<std::string>{"ecfp4", "path"});
  REQUIRE(vector.fingerprint_bits == 512);
  REQUIRE(vector.descriptors);
  REQUIRE(settings.molecules.kernel_ridge);
  REQUIRE(settings.train.loss().regression == RegressionLoss::huber);
  REQUIRE(settings.train.loss().label_smoothing == 0.25);
  ItemSchema schema{GraphTask::regression, {3, 4}, 0, {5}, 0, false, {"a"}};
  schema.graph_features = 1100;
  REQUIRE(settings.graph_model(schema).graph_features == 1100);
  REQUIRE(settings.graph_model(schema).graph_counts == 1024);
  settings.molecules.head_fingerprints = false;
  settings.check();
  schema.graph_features = 76;
  REQUIRE(settings.graph_model(schema).graph_features == 76);
  REQUIRE(settings.graph_model(schema).graph_counts == 0);
  REQUIRE(settings.molecules.vector().fingerprints == vector.fingerprints);
  settings.molecules.kernel_ridge = false;
  REQUIRE(settings.molecules.vector().fingerprints.empty());
  REQUIRE(settings.molecules.vector().descriptors);
  settings.molecules.kernel_ridge = true;
  settings.molecules.head_features = false;
  settings.check();
  REQUIRE(settings.graph_model(schema).graph_features == 0);
  REQUIRE(settings.graph_model(schema).graph_counts == 0);
  settings.molecules.kernel_ridge = false;
  settings.check();
  REQUIRE_FALSE(settings.molecules.vector().any());  // nothing sees them
  settings.molecules.fingerprint = "ecfp7";
  require_error([&] { settings.molecules.vector(); }, {"ecfp7"});
  settings.molecules.fingerprint = "ecfp4,path";
  settings.molecules.head_features = settings.molecules.head_fingerprints = true;
  REQUIRE(settings.molecules.vector().any());
  settings.model.atom_references = true;
  settings.model.local = LocalKind::gine;
  settings.model.edge_cutoff = 4.0;
  REQUIRE_THROWS_AS(settings.graph_model(schema), UsageError);  // no coordinates
  schema.coordinates = true;
  REQUIRE(settings.graph_model(schema).edge_cutoff == 4.0);
  settings.model.local = LocalKind::none;
  REQUIRE(settings.graph_model(schema).edge_cutoff == 0.0);
  settings.model.local = LocalKind::gine;
  REQUIRE(settings.graph_model(schema).atom_references);
  schema.task = GraphTask::classification;
  REQUIRE_THROWS_AS(settings.graph_model(schema), UsageError);  // atom_references
  settings.model.encoding_signs = EncodingSigns::invariant;
  REQUIRE_THROWS_AS(settings.check(), UsageError);  // encoding_channels 0
  settings.model.encoding_signs = EncodingSigns::random;
  settings.molecules.label_columns = "\"a";
  REQUIRE_THROWS_AS(settings.check(), UsageError);
  settings.molecules.label_columns = "";
  settings.molecules.fingerprint = "ecfp7";
  REQUIRE_THROWS_AS(settings.check(), UsageError);
}

TEST_CASE("nodes limit the batches of a training of graphs where they are set, else graphs") {
  GraphTrainSettings train;
  train.batch_size = 12;
  CHECK((train.batch_limit().size == 12 && train.batch_limit().of_each_process));
  CHECK(std::string(train.batch_limit().option) == "--batch-size");
  train.limit_batches(6);
  train.batch_nodes = 500;
  CHECK((train.batch_limit().size == 500 && !train.batch_limit().of_each_process));
  CHECK(std::string(train.batch_limit().option) == "--batch-nodes");
  train.limit_batches(250);
  CHECK((train.batch_size == 6 && train.batch_nodes == 250));
}

TEST_CASE("a model samples tokens in its layers or in its head, or in neither") {
  GraphModelSettings model;
  CHECK(model.samples());
  model.attention = "softmax";
  model.head = GraphHead::sample_max;
  CHECK(model.samples());
  model.head = GraphHead::mean;
  CHECK_FALSE(model.samples());
}

TEST_CASE("an unknown metric is refused with the other settings, before data are read") {
  GraphSettings settings;
  settings.train.metric = "roc_auc, rmse";
  settings.check();
  settings.train.metric = "rmse,ap";
  require_error([&] { settings.check(); }, {"metric", "\"ap\"", "average_precision"});
}

}  // namespace geosft::test::test_graph_settings
