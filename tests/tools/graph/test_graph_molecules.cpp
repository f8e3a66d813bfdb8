// SPDX-License-Identifier: Apache-2.0
// geosft-graph on molecules, end to end: from SMILES, and with coordinates.
#include <ATen/ATen.h>

#include <catch2/catch.hpp>
#include <functional>
#include <map>

#include "geometry/rotation.h"
#include "tests/data/graphs/molecule_files.h"
#include "tests/data/graphs/molecules.h"
#include "tests/support.h"
#include "tests/tools/graph/graph_tool.h"

namespace geosft::test::test_graph_molecules {
namespace {

// The molecules of the golden case, then pairs of them: a hundred.
std::vector<std::string> hundred_smiles() {
  const std::vector<std::string> known = fixture_smiles();
  std::vector<std::string> all = known;
  const size_t count = known.size();
  for (size_t i = 0; all.size() < 100; ++i) {
    all.push_back(known[i % count] + "." + known[(7 * i + i / count + 3) % count]);
  }
  return all;
}

// Ten labels of what a molecule is made of, as Peptides-func has ten.
std::vector<int> labels_of(const std::string& smiles) {
  std::vector<int> labels;
  for (const char* any : {"Nn", "Oo", "cn", "=", "Ss", "FlB", "123", "+-", "@", "("}) {
    labels.push_back(smiles.find_first_of(any) != std::string::npos);
  }
  return labels;
}

// Items i with i % 5 = 4 are the test split, those with i % 10 = 3 for validation.
const char* split_name(size_t item) {
  return item % 5 == 4 ? "test" : item % 10 == 3 ? "val" : "train";
}

void write_peptide_form(const std::filesystem::path& folder) {
  std::string table = ",smiles,peptide_seq,labels,identifier\n";
  std::map<std::string, std::string> splits;
  const std::vector<std::string> smiles = hundred_smiles();
  for (size_t i = 0; i < smiles.size(); ++i) {
    std::string list;
    for (const int label : labels_of(smiles[i])) list += (list.empty() ? "" : ", ") + std::to_string(label);
    table += std::to_string(i) + "," + smiles[i] + ",X,\"[" + list + "]\"," + std::to_string(i) + "\n";
    splits[split_name(i)] += std::to_string(i) + "\n";
  }
  write_text(folder / "peptide_multi_class_dataset.csv", table);
  for (const auto& [split, items] : splits) write_text(folder / ("split_" + split + ".txt"), items);
}

// Mean of the share of the test split that has a label, over labels that some have and some have not: the average
// precision of a constant predictor.
double constant_precision() {
  const std::vector<std::string> smiles = hundred_smiles();
  std::vector<double> positives(10, 0.0);
  double items = 0;
  for (size_t i = 0; i < smiles.size(); ++i) {
    if (std::string(split_name(i)) != "test") continue;
    ++items;
    const std::vector<int> labels = labels_of(smiles[i]);
    for (size_t label = 0; label < labels.size(); ++label) positives[label] += labels[label];
  }
  double sum = 0, counted = 0;
  for (const double found : positives) {
    if (found == 0 || found == items) continue;
    sum += found / items;
    ++counted;
  }
  return sum / counted;
}

// `count` molecules of three to eight atoms on places of a lattice, moved a little and then by `moved`; the energy
// follows from the elements and the distances.
std::vector<PlacedMolecule> lattice_molecules(int count, const std::function<at::Tensor(const at::Tensor&)>& moved) {
  const std::vector<std::string> elements = {"H", "C", "N", "O"};
  std::vector<PlacedMolecule> molecules;
  for (int molecule = 1; molecule <= count; ++molecule) {
    const at::Generator random = generator(static_cast<uint64_t>(molecule));
    const int64_t atoms = 3 + molecule % 6;
    const at::Tensor cell = at::arange(atoms);
    at::Tensor places = at::stack({cell % 2, cell.div(2, "floor") % 2, cell.div(4, "floor")}, 1).to(at::kDouble) * 1.4;
    places = places + 0.2 * at::randn({atoms, 3}, random, at::kDouble);
    const at::Tensor kind = at::randint(4, {atoms}, random, at::kLong);
    const double energy = -100.0 * (kind + 1).sum().item<double>() + 20.0 * at::pdist(places).sum().item<double>();
    PlacedMolecule& made = molecules.emplace_back(PlacedMolecule{{}, moved(places), energy});
    for (int64_t atom = 0; atom < atoms; ++atom) {
      made.elements.push_back(elements[static_cast<size_t>(kind[atom].item<int64_t>())]);
    }
  }
  return molecules;
}

// An energy for every molecule of `data`.
at::Tensor energies(const GraphShop& shop, const std::string& run, const std::string& data) {
  std::vector<double> found;
  for (const std::string& line : lines_of(shop.run_well({"predict", run, "--data", data, "--json"}).out)) {
    found.push_back(nlohmann::json::parse(line).at("values").begin().value());
  }
  return at::tensor(found, at::kDouble);
}

}  // namespace

TEST_CASE("a hundred molecules are trained on, evaluated and predicted from their SMILES") {
  if (!has_rdkit()) return;
  const GraphShop shop;
  write_peptide_form(shop / "molecules");
  const std::string data = (shop / "molecules").string(), run = (shop / "run").string();
  CHECK_THAT(shop.run_well({"info", data}).out,
             Catch::Contains("100 graphs") && Catch::Contains("70 train, 10 validation, 20 test"));
  const Words more = {"--data", data, "--epochs", "40", "--json", "--drop-token-rate", "0"};
  const nlohmann::json trained = nlohmann::json::parse(shop.run_well(shop.train("run", more)).out);
  CHECK(trained.at("task") == "multi_label");
  CHECK(trained.at("count") == 20);
  CHECK(trained.at("metrics").at("average_precision") > constant_precision() + 0.1);
  CHECK(trained.at("metrics").at("roc_auc") > 0.7);
  const nlohmann::json evaluated = nlohmann::json::parse(shop.run_well({"eval", run, "--json"}).out);
  CHECK(evaluated.at("metrics") == trained.at("metrics"));
  const Words lines = lines_of(shop.run_well({"predict", run, "--json"}).out);
  REQUIRE(lines.size() == 100);
  const std::vector<std::string> smiles = hundred_smiles();
  int64_t right = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const nlohmann::json probabilities = nlohmann::json::parse(lines[i]).at("probabilities");
    REQUIRE(probabilities.size() == 10);
    // The first label says whether there is nitrogen.
    right += (probabilities.at("antifungal") > 0.5) == (labels_of(smiles[i])[0] == 1);
  }
  CHECK(right >= 80);
  // The same molecules as a list, with one that is none, and typed: the same predictions.
  std::string list = "C(C broken\n";
  for (const std::string& molecule : smiles) list += molecule + "\n";
  write_text(shop / "new.smi", list);
  const std::string file = (shop / "new.smi").string();
  const auto result = shop.run({"predict", run, file, "--json"});
  REQUIRE(result.exit == 1);
  CHECK_THAT(result.err, Catch::Contains("new.smi:1: invalid SMILES \"C(C\""));
  const Words given = lines_of(result.out);
  REQUIRE(given.size() == 101);
  const nlohmann::json broken = nlohmann::json::parse(given[0]);
  CHECK((broken.at("graph") == 0 && broken.at("line") == 1 && broken.at("smiles") == "C(C"));
  CHECK(broken.at("input").at("id") == "broken");
  CHECK_THAT(broken.at("error").get<std::string>(), Catch::StartsWith("invalid SMILES: "));
  for (size_t i = 0; i < smiles.size(); ++i) {
    const nlohmann::json line = nlohmann::json::parse(given[i + 1]);
    CHECK((line.at("graph") == i + 1 && line.at("line") == i + 2));
    CHECK(line.at("name") == smiles[i]);
    CHECK(line.at("probabilities") == nlohmann::json::parse(lines[i]).at("probabilities"));
  }
  const Words typed = lines_of(shop.run({"predict", run, "--smiles", smiles[3], "--smiles", smiles[5], file}).out);
  REQUIRE(typed.size() == 102);
  CHECK_THAT(typed[1], Catch::StartsWith(smiles[5] + ":  antifungal "));
  shop.refuses({"predict", run, "--smiles", smiles[3], "CCN"}, 2, {"no file 'CCN'", "--smiles comes before each"});
  shop.refuses({"predict", run, "CCO"}, 1,
               {"CCO: expected a file, found nothing of this name (--smiles CCO predicts this molecule)"});
  shop.refuses({"predict", run, "C(C"}, 1, {"C(C: expected a graph or graphs, found nothing of this name"});
  shop.refuses({"predict", run, "--smiles", "C(C"}, 1, {"--smiles:1: expected a valid SMILES, found \"C(C\": "});
}

TEST_CASE("a CSV file of SMILES and labels is trained on, and predicted with the same features") {
  if (!has_rdkit()) return;
  const GraphShop shop;
  // The labels are whether there is nitrogen, and the number of atoms that are written: half of these are unknown.
  std::string labels = "compound,structure,nitrogen\n", numbers = "structure,size\n";
  const std::vector<std::string> smiles = hundred_smiles();
  for (size_t i = 0; i < smiles.size(); ++i) {
    labels += "M" + std::to_string(i) + "," + smiles[i] + "," + std::to_string(labels_of(smiles[i])[0]) + "\n";
    numbers += smiles[i] + "," + (i % 2 == 0 ? std::to_string(written_atoms(smiles[i])) : "") + "\n";
  }
  write_text(shop / "labels.csv", labels);
  write_text(shop / "numbers.csv", numbers);
  const std::string data = (shop / "labels.csv").string(), run = (shop / "run").string();
  const Words features = {"--fingerprint", "ecfp2,atom_pair", "--fingerprint-bits", "128",
                          "--descriptors", "--metric",        "roc_auc,rmse",       "--split",
                          "random",        "--json",          "--epochs",           "30"};
  const auto result = shop.run_well(shop.train("run", Words{"--data", data} + features));
  REQUIRE_THAT(result.err, Catch::Contains("SMILES in column \"structure\"; label \"nitrogen\""));
  const nlohmann::json trained = nlohmann::json::parse(result.out);
  REQUIRE(trained.at("count") == 10);
  REQUIRE(trained.at("metrics").contains("prc_auc"));
  const auto training = nlohmann::json::parse(shop.run_well({"eval", run, "--split", "train", "--json"}).out);
  REQUIRE(training.at("metrics").at("roc_auc") > 0.8);
  const nlohmann::json evaluated = nlohmann::json::parse(shop.run_well({"eval", run, "--json"}).out);
  REQUIRE(evaluated.at("metrics") == trained.at("metrics"));
  const Words items = lines_of(shop.run_well({"predict", run, "--json"}).out);
  const Words rows = lines_of(shop.run_well({"predict", run, data, "--json"}).out);
  const Words typed = lines_of(shop.run_well({"predict", run, "--smiles", smiles[4], "--json"}).out);
  REQUIRE(rows.size() == smiles.size());
  REQUIRE(typed.size() == 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto probability = [](const std::string& line) {
      return nlohmann::json::parse(line).at("probabilities").at("nitrogen").get<double>();
    };
    REQUIRE(probability(rows[i]) == Approx(probability(items[i])).margin(1e-6));
    if (i == 4) REQUIRE(probability(rows[i]) == Approx(probability(typed[0])).margin(1e-6));
  }
  // Labels are those of the model, of a table with further numbers, and with one class alone.
  std::string more = "size,structure,nitrogen\n";
  for (size_t i = 0; i < 10; ++i) more += std::to_string(i * i) + "," + smiles[i] + ",1\n";
  write_text(shop / "more.csv", more);
  const auto elsewhere =
      shop.run_well({"eval", run, "--data", (shop / "more.csv").string(), "--split", "all", "--json"});
  REQUIRE(nlohmann::json::parse(elsewhere.out).at("count") == 10);
  REQUIRE_THAT(elsewhere.err, Catch::Contains("labels of the trained model, \"nitrogen\""));
  // Counts those of the ten that were trained on, and says nothing of a table of other molecules.
  CHECK_THAT(elsewhere.err,
             Catch::Contains(" of its 10 molecules with a label were trained on or held out for validation, by their"));
  const std::string more_file = (shop / "more.csv").string();
  shop.require_failure(
      shop.run({"train", "--data", more_file, "--label-columns", "nitrogen", "--out", (shop / "one").string()}), 1,
      {more_file, "expected labels of two values, found one value of all known labels"});
  write_text(shop / "far.csv", "smiles,nitrogen\nCCCCCCCCCCBr,0\nNCCCCCCCCCI,1\n");
  CHECK_THAT(shop.run_well({"eval", run, "--data", (shop / "far.csv").string(), "--split", "all"}).err,
             !Catch::Contains("trained on or held out"));
  // Takes the named one of two columns of SMILES. Describes no molecules of a table without a label.
  write_text(shop / "two.csv", "smiles,made,nitrogen\nCCO,CCN,1\nCC,CCO,0\nCCN,CC,0\nC,CN,1\nN,C,0\n");
  write_text(shop / "made.csv", "made,nitrogen\nCCN,1\nCCO,0\nCC,0\nCN,1\nC,0\n");
  const auto loss = [&](const char* file, const Words& words) {
    const Words all = {"eval", run, "--data", (shop / file).string(), "--split", "all", "--json"};
    return nlohmann::json::parse(shop.run_well(all + words).out).at("metrics").at("loss").get<double>();
  };
  CHECK(loss("two.csv", {"--smiles-column", "made"}) == Approx(loss("made.csv", {})).epsilon(1e-6));
  CHECK(loss("two.csv", {}) != Approx(loss("made.csv", {})).epsilon(1e-3));
  shop.refuses({"eval", run, "--data", shop.data().string(), "--split", "all", "--smiles-column", "made"}, 2,
               {"--smiles-column is for a table of molecules, not for " + shop.data().string()});
  write_text(shop / "bare.csv", "smiles,other\nCCO,1\nCC,2\n");
  const auto bare = shop.run({"eval", run, "--data", (shop / "bare.csv").string(), "--split", "all"});
  CHECK(bare.exit == 1);
  CHECK_THAT(bare.err, Catch::Contains("expected graphs with labels, nitrogen, found none") &&
                           !Catch::Contains("describing molecules"));
  write_text(shop / "nosmiles.csv", "code,nitrogen\nx7,1\ny8,0\n");
  shop.refuses({"predict", run, (shop / "nosmiles.csv").string()}, 1,
               {"a column \"smiles\", or one of SMILES, which --smiles-column names", "the columns"});
  // Columns of one name are kept, too.
  write_text(shop / "twice.csv", "smiles,id,id\nCCN,a,b\n");
  shop.run_well({"predict", run, (shop / "twice.csv").string(), "--csv", (shop / "twice_out.csv").string()});
  const Words twice = lines_of(read_text(shop / "twice_out.csv"));
  CHECK_THAT(twice.at(0), Catch::StartsWith("file,graph,name,line,smiles,id,input_id,"));
  CHECK_THAT(twice.at(1), Catch::Contains(",2,CCN,a,b,"));
  // Another table keeps its rows and columns, and a broken molecule has a row with the error.
  write_text(shop / "other.csv", "drug,nitrogen,id\nCCN,1,a\nC(C,0,b\nCCO,,c\n");
  const std::string other = (shop / "other.csv").string(), table = (shop / "table.csv").string();
  write_text(shop / "bad.csv", "smiles,id\nC(C,a\nC1CC,b\n");
  const auto bad = shop.run({"predict", run, (shop / "bad.csv").string(), "--csv", table});
  CHECK(bad.exit == 1);
  CHECK_THAT(bad.err, Catch::Contains("bad.csv:3: invalid SMILES \"C1CC\": ring 1 is not closed"));
  const Words rows_of_bad = lines_of(read_text(table));
  REQUIRE(rows_of_bad.size() == 3);
  CHECK_THAT(rows_of_bad[2], Catch::Contains(",3,C1CC,b,,invalid SMILES: ring 1 is not closed"));
  const auto joined = shop.run({"predict", run, other, "--csv", table});
  REQUIRE(joined.exit == 1);
  REQUIRE_THAT(joined.err, Catch::Contains("other.csv: 1 of 3 SMILES is invalid"));
  REQUIRE(lines_of(joined.out).size() == 2);
  const Words kept = lines_of(read_text(table));
  REQUIRE(kept.size() == 4);
  REQUIRE(kept[0] == "file,graph,name,line,smiles,input_nitrogen,id,nitrogen,error");
  REQUIRE_THAT(kept[1], Catch::StartsWith(other + ",0,CCN,2,CCN,1,a,0."));
  REQUIRE_THAT(kept[2], Catch::StartsWith(other + ",1,C(C,3,C(C,0,b,,") && Catch::Contains("invalid SMILES: "));
  REQUIRE_THAT(kept[3], Catch::StartsWith(other + ",2,CCO,4,CCO,,c,0."));
  write_text(shop / "other.txt", "drug,nitrogen,id\nCCN,1,a\n");
  const std::string text = (shop / "other.txt").string();
  shop.refuses({"predict", run, text}, 1, {"other.txt", "SMILES", "*.csv", "--smiles-column", "an edge list"});
  REQUIRE(lines_of(shop.run_well({"predict", run, text, "--smiles-column", "drug"}).out).size() == 1);
  REQUIRE_THAT(shop.run_well({"info", data}).out, Catch::Contains("100 graphs") && Catch::Contains("nitrogen"));
  shop.refuses({"info", text}, 1, {"other.txt:1", "--smiles-column", "drug,nitrogen,id"});
  REQUIRE_THAT(shop.run_well({"info", text, "--smiles-column", "drug", "--label-columns", "nitrogen"}).out,
               Catch::Contains("1 graph,"));
  const nlohmann::json regression =
      nlohmann::json::parse(shop.run_well(shop.train("sizes", Words{"--data", (shop / "numbers.csv").string(),
                                                                    "--regression-loss", "mse", "--max-steps", "20"} +
                                                                  features))
                                .out);
  REQUIRE(regression.at("metrics").contains("rmse"));
  REQUIRE_THAT(read_text(shop / "sizes/config.toml"), Catch::Contains("epochs = 1\n"));
  const auto averaged = shop.run_well(shop.train("averaged", Words{"--data", data, "--kernel-ridge"} + features));
  REQUIRE_THAT(averaged.err, Catch::Contains("kernel ridge regression") && Catch::Contains("weight 0."));
  REQUIRE(std::filesystem::exists(shop / "averaged/kernel.ckpt"));
  const std::string both = (shop / "averaged").string(), alone = both + "/best.ckpt";
  const Words left_out = {alone + ": one network, without the kernel ridge regression of its run: give " + both};
  for (const Words& words : {Words{"eval", alone}, Words{"predict", alone, "--smiles", "CCO", "--json"}}) {
    CHECK_THAT(shop.run_well(words).err, Catch::Contains(left_out[0]));
  }
  CHECK_THAT(shop.run_well({"eval", both}).err, !Catch::Contains("one network"));
  const auto fourth = [&](const std::string& of) {
    return nlohmann::json::parse(shop.run_well({"predict", of, "--smiles", smiles[4], "--json"}).out)
        .at("probabilities")
        .at("nitrogen")
        .get<double>();
  };
  CHECK(fourth(alone) != Approx(fourth(both)).margin(1e-7));
  CHECK(fourth(alone) == Approx(fourth(run)).margin(1e-6));  // the networks are those of a training without it
  const nlohmann::json whole = nlohmann::json::parse(shop.run_well({"eval", both, "--json"}).out);
  REQUIRE(whole.at("metrics") == nlohmann::json::parse(averaged.out).at("metrics"));
  CHECK(whole.at("checkpoint").at("averaged_with") == "a kernel ridge regression");
  CHECK(nlohmann::json::parse(averaged.out).at("checkpoint") == whole.at("checkpoint"));
  CHECK_FALSE(
      nlohmann::json::parse(shop.run_well({"eval", alone, "--json"}).out).at("checkpoint").contains("averaged_with"));
  std::filesystem::copy(both, shop / "bare", std::filesystem::copy_options::recursive);
  std::filesystem::remove(shop / "bare/kernel.ckpt");
  CHECK_THAT(shop.run_well({"predict", (shop / "bare").string(), "--smiles", "CCO"}).err,
             Catch::Contains("kernel.ckpt is missing"));
  CHECK_THAT(shop.run_well({"predict", both, "--smiles", "CCO"}).err, !Catch::Contains("kernel.ckpt"));
  const auto swept = [&](const std::string& values) {
    return shop
        .run_well({"sweep", "--data", data, "--out", (shop / ("sweep of " + values)).string(), "--set", "epochs=1",
                   "--set", "ensemble=1", "--set", "dim=16", "--set", "depth=1", "--set", "fingerprint_bits=128",
                   "--vary", "kernel_ridge=" + values})
        .err;
  };
  CHECK_THAT(swept("true"), Catch::EndsWith("figures are of networks averaged with a kernel ridge regression; --set "
                                            "kernel_ridge=false compares the networks alone\n"));
  CHECK_THAT(swept("true,false"), Catch::EndsWith("figures of 1 of the 2 configurations are of networks averaged with "
                                                  "a kernel ridge regression\n"));
  const auto further = shop.run_well({"train", "--resume", "--out", both, "--epochs", "31"});
  CHECK_THAT(further.out,
             Catch::Contains("of the average of best.ckpt and a kernel ridge regression\nbest.ckpt: epoch "));
  shop.refuses(shop.train("none", {"--fingerprint", "ecfp4"}), 2, {"fingerprint ecfp4", "SMILES", "wl0 to wl3"});
  shop.refuses(shop.train("none", {"--fingerprint", "ecfp5"}), 2, {"fingerprint", "ecfp4", "\"ecfp5\""});
}

TEST_CASE("with head_features false, only the regression sees fingerprints, and the network trains as without them") {
  if (!has_rdkit()) return;
  const GraphShop shop;
  std::string table = "smiles,nitrogen\n", classes = "smiles,kind\n";
  const std::vector<std::string> smiles = hundred_smiles();
  for (const std::string& one : smiles) {
    table += one + "," + std::to_string(labels_of(one)[0]) + "\n";
    classes += one + ",kind " + std::to_string(labels_of(one)[0] + labels_of(one)[1]) + "\n";
  }
  write_text(shop / "labels.csv", table);
  write_text(shop / "classes.csv", classes);
  const Words given = {"--data", (shop / "labels.csv").string(), "--split", "random", "--epochs", "2", "--json"};
  const Words outside = {"--kernel-ridge", "--no-head-features", "--fingerprint", "ecfp2", "--descriptors"};
  shop.run_well(shop.train("plain", given));
  const auto trained = shop.run_well(shop.train("run", given + outside));
  CHECK_THAT(trained.err, Catch::Contains("kernel ridge regression"));
  const std::string run = (shop / "run").string(), network = run + "/best.ckpt";
  const auto probability = [&](const std::string& of) {
    return nlohmann::json::parse(shop.run_well({"predict", of, "--smiles", smiles[4], "--json"}).out)
        .at("probabilities")
        .at("nitrogen")
        .get<double>();
  };
  const double of_network = probability(network);
  CHECK(of_network == Approx(probability((shop / "plain").string())).margin(1e-6));
  CHECK(of_network != Approx(probability(run)).margin(1e-4));
  CHECK(nlohmann::json::parse(shop.run_well({"eval", run, "--json"}).out).at("metrics") ==
        nlohmann::json::parse(trained.out).at("metrics"));
  shop.run_well({"train", "--resume", "--out", run, "--epochs", "3"});
  shop.refuses(shop.train("none", given + Words{"--fingerprint", "ecfp2", "--no-head-features"}), 2,
               {"head_features", "kernel_ridge = true"});
  // The head sees the descriptors alone: the network is that of a training without fingerprints.
  shop.run_well(shop.train("described", given + Words{"--descriptors"}));
  const Words counted = {"--descriptors", "--fingerprint", "ecfp2", "--no-head-fingerprints", "--kernel-ridge"};
  shop.run_well(shop.train("partly", given + counted));
  const double described = probability((shop / "described").string());
  CHECK(probability((shop / "partly/best.ckpt").string()) == Approx(described).margin(1e-6));
  CHECK(probability((shop / "partly").string()) != Approx(described).margin(1e-4));
  const auto forest = shop.run_well(shop.train("forest", given + outside + Words{"--random-forest"}));
  CHECK_THAT(forest.err, Catch::Contains("; share of the random forest beside it 0.5; weight "));
  CHECK(probability((shop / "forest").string()) != Approx(probability(run)).margin(1e-4));
  CHECK(nlohmann::json::parse(shop.run_well({"eval", (shop / "forest").string(), "--json"}).out).at("metrics") ==
        nlohmann::json::parse(forest.out).at("metrics"));
  shop.refuses(shop.train("none", given + Words{"--fingerprint", "ecfp2", "--random-forest"}), 2,
               {"--random-forest", "kernel_ridge = true and fingerprints"});
  shop.run_well(shop.train("off", given + Words{"--no-kernel-ridge", "--no-random-forest"}));
  const Words of_classes = {"--data", (shop / "classes.csv").string(), "--label-columns", "kind", "--split", "random"};
  const auto texts = shop.run_well(shop.train("texts", of_classes + Words{"--epochs", "2", "--json"} + outside));
  CHECK(std::filesystem::exists(shop / "texts/kernel.ckpt"));
  CHECK(nlohmann::json::parse(texts.out).at("checkpoint").at("averaged_with") == "a kernel ridge regression");
}

TEST_CASE("all spellings of a chiral molecule have one prediction, unless the tags are those of OGB") {
  if (!has_rdkit()) return;
  const GraphShop shop;
  std::string table = "smiles,nitrogen\n";
  for (const std::string& one : hundred_smiles()) table += one + "," + std::to_string(labels_of(one)[0]) + "\n";
  write_text(shop / "labels.csv", table);
  const Words given = {"--data",      (shop / "labels.csv").string(),
                       "--split",     "random",
                       "--epochs",    "1",
                       "--attention", "none",
                       "--local",     "gine",
                       "--head",      "mean"};
  const auto predicted = [&](const std::string& name, const std::string& smiles) {
    const Words words = {"predict", (shop / name).string(), "--smiles", smiles, "--json"};
    return nlohmann::json::parse(shop.run_well(words).out).at("probabilities").at("nitrogen").get<double>();
  };
  shop.run_well(shop.train("canonical", given));
  shop.run_well(shop.train("written", given + Words{"--chiral-tags", "written"}));
  const std::string one = "C[C@H](N)C(=O)O", same = "N[C@@H](C)C(=O)O", mirrored = "C[C@@H](N)C(=O)O";
  CHECK(predicted("canonical", same) == Approx(predicted("canonical", one)).epsilon(1e-5));
  CHECK(predicted("canonical", mirrored) != Approx(predicted("canonical", one)).epsilon(1e-4));
  CHECK(predicted("written", same) != Approx(predicted("written", one)).epsilon(1e-4));
  shop.refuses(shop.train("none", {"--chiral-tags", "written"}), 2, {"--chiral-tags", "a table of molecules"});
  // A training and a sweep that a version without the key began go on as they began.
  const auto forget = [&](const std::string& run) {
    std::string text = read_text(shop / run / "config.toml");
    const size_t line = text.find("chiral_tags = \"written\"");
    REQUIRE(line != std::string::npos);
    write_text(shop / run / "config.toml", text.erase(line, text.find('\n', line) + 1 - line));
  };
  forget("written");
  shop.run_well({"train", "--resume", "--out", (shop / "written").string(), "--epochs", "2"});
  CHECK_THAT(read_text(shop / "written/config.toml"), Catch::Contains("chiral_tags = \"written\""));
  const Words sweep = {"sweep",
                       "--data",
                       (shop / "labels.csv").string(),
                       "--out",
                       (shop / "sweep").string(),
                       "--set",
                       "epochs=1",
                       "--set",
                       "split=random",
                       "--vary",
                       "depth=1,2"};
  shop.run_well(sweep + Words{"--set", "chiral_tags=written"});
  for (const char* run : {"sweep/depth=1", "sweep/depth=2"}) forget(run);
  shop.run_well(sweep);
  // So does a network that begins with its weights.
  shop.run_well({"train", "--data", (shop / "labels.csv").string(), "--split", "random", "--epochs", "1", "--init-from",
                 (shop / "written").string(), "--out", (shop / "tuned").string()});
  CHECK_THAT(read_text(shop / "tuned/config.toml"), Catch::Contains("chiral_tags = \"written\""));
}

TEST_CASE("a table of molecules that was sorted anew is not what a run was trained on, one that moved is") {
  if (!has_rdkit()) return;
  const GraphShop shop;
  const std::vector<std::string> smiles = hundred_smiles();
  std::string rows, sorted;
  for (size_t i = 0; i < 40; ++i) {
    const std::string row = smiles[i] + "," + std::to_string(labels_of(smiles[i])[0]) + "\n";
    rows += row;
    sorted.insert(0, row);
  }
  write_text(shop / "mine.csv", "smiles,nitrogen\n" + rows);
  const std::string data = (shop / "mine.csv").string(), run = (shop / "run").string();
  const Words more = {"--data", data, "--split", "random", "--epochs", "1", "--validation-fraction", "0.1"};
  shop.run_well(shop.train("run", more));
  const std::string result = read_text(shop / "run/result.json");
  std::filesystem::rename(shop / "mine.csv", shop / "moved.csv");
  shop.run_well({"eval", run, "--data", (shop / "moved.csv").string()});
  write_text(shop / "mine.csv", "smiles,nitrogen\n" + sorted);
  const Words expected = {"mine.csv", "split.csv", "item 0 was '" + smiles[0].substr(0, 9),
                          "and is '" + smiles[39].substr(0, 9)};
  for (const Words& words : {Words{"eval", run}, Words{"predict", run, "--split", "test"}}) {
    shop.require_failure(shop.run(words), 1, expected + Words{"--split all"});
  }
  shop.require_failure(shop.run({"train", "--resume", "--out", run}), 1, expected + Words{"begin a new run"});
  CHECK(read_text(shop / "run/result.json") == result);
  std::string changed = rows;  // of the last label
  changed[changed.size() - 2] = changed[changed.size() - 2] == '0' ? '1' : '0';
  write_text(shop / "mine.csv", "smiles,nitrogen\n" + changed);
  const Words other_label = {"mine.csv", "split.csv", "item 39, '" + smiles[39].substr(0, 9), "had the label '"};
  shop.require_failure(shop.run({"eval", run}), 1, other_label);
  shop.require_failure(shop.run({"train", "--resume", "--out", run}), 1, other_label + Words{"begin a new run"});
  write_text(shop / "mine.csv", "smiles,nitrogen\n" + sorted);
  // Items have the lines of the table, whose second row is no molecule.
  write_text(shop / "broken.csv", "smiles,nitrogen\nCCN,1\nC(C,0\nCCO,0\n");
  const std::string table = (shop / "table.csv").string();
  shop.run_well({"predict", run, "--data", (shop / "broken.csv").string(), "--csv", table});
  const Words rows_of_items = lines_of(read_text(table));
  REQUIRE(rows_of_items.size() == 3);
  CHECK_THAT(rows_of_items[0], Catch::StartsWith("file,graph,name,line,smiles,nitrogen"));
  CHECK_THAT(rows_of_items[1], Catch::Contains(",0,CCN,2,CCN,"));
  CHECK_THAT(rows_of_items[2], Catch::Contains(",1,CCO,4,CCO,"));
  shop.run_well({"predict", run});
  // Unknown labels are not scored.
  write_text(shop / "mine.csv", "smiles,nitrogen\n" + rows + "CCO,0\nCC,\n");
  shop.require_failure(shop.run({"eval", run}), 1, {"items in place of 40"});
  const auto all = nlohmann::json::parse(shop.run_well({"eval", run, "--split", "all", "--json"}).out);
  CHECK(all.at("count") == 41);
}

TEST_CASE("a table of molecules whose column of SMILES has another name is described and encoded") {
  if (!has_rdkit()) return;
  const GraphShop shop;
  const std::string data = (shop / "t.csv").string(), out = (shop / "pe.h5").string();
  write_text(shop / "t.csv", "structure,y\nCC,1.5\nCCO,2\nCCN,3\n");
  CHECK_THAT(shop.run_well({"info", data}).out,
             Catch::Contains("3 graphs, 8 nodes") && Catch::Contains("task: regression, 1 target: y"));
  CHECK_THAT(shop.run_well({"encode", data, "--out", out, "--steps", "4"}).out, Catch::Contains("3 graphs"));
}

TEST_CASE("an option of attention makes the small model of molecules the transformer, and that is said") {
  if (!has_rdkit()) return;
  const GraphShop shop;
  std::string table = "smiles,nitrogen\n";
  const std::vector<std::string> smiles = hundred_smiles();
  for (const std::string& one : smiles) table += one + "," + std::to_string(labels_of(one)[0]) + "\n";
  write_text(shop / "t.csv", table);
  const Words words = {"train", "--data", (shop / "t.csv").string(), "--epochs", "1", "--out"};
  const std::string said = "It is the transformer, since an option is given that is not for the graph network";
  const auto network = shop.run_well(words + Words{(shop / "network").string()});
  CHECK_THAT(network.err, Catch::Contains("without --config: a graph network") && !Catch::Contains(said));
  CHECK_THAT(read_text(shop / "network/config.toml"), Catch::Contains("attention = \"none\""));
  const auto attends = shop.run_well(words + Words{(shop / "attends").string(), "--num-heads", "2"});
  CHECK_THAT(attends.err, Catch::Contains("without --config: a small model") && Catch::Contains(said));
  CHECK_THAT(read_text(shop / "attends/config.toml"), Catch::Contains("attention = \"sampling\""));
}

TEST_CASE("energies of molecules with coordinates are learnt, and rotations do not change them") {
  const GraphShop shop;
  const auto written = [&](const char* name, const std::function<at::Tensor(const at::Tensor&)>& moved) {
    write_qm7(shop / name, lattice_molecules(60, moved));
    return (shop / name).string();
  };
  const at::Tensor rotation = random_rotation(generator(5), at::kDouble);
  const std::string upright = written("upright", [](const at::Tensor& x) { return x; });
  const std::string rotated = written("rotated", [&](const at::Tensor& x) { return x.matmul(rotation) + 3.0; });
  const std::string stretched = written("stretched", [](const at::Tensor& x) { return x * 1.05; });
  const Words more = {
      "--data", upright, "--epochs", "80", "--json", "--depth", "2", "--head", "sum", "--distance-channels", "8"};
  const nlohmann::json result = nlohmann::json::parse(shop.run_well(shop.train("run", more)).out);
  CHECK(result.at("metrics").at("r2") > 0.3);
  const std::string run = (shop / "run").string();
  const at::Tensor found = energies(shop, run, upright);
  const double spread = found.std().item<double>();
  const auto difference = [&](const std::string& data) {
    return (energies(shop, run, data) - found).abs().max().item<double>();
  };
  CHECK(difference(rotated) < 1e-3 * spread);
  CHECK(difference(stretched) > 1e-2 * spread);
}

TEST_CASE("an XYZ file of several molecules is a dataset, whose results have the names of its molecules") {
  const GraphShop shop;
  const std::vector<PlacedMolecule> molecules = lattice_molecules(20, [](const at::Tensor& x) { return x; });
  std::string text;
  for (size_t i = 0; i < molecules.size(); ++i) {
    text += xyz_text(molecules[i], "kind=made energy=" + std::to_string(molecules[i].energy) +
                                       " charge=0 Properties=species:S:1:pos:R:3 pbc=\"F F F\" split=" +
                                       (i % 5 == 4 ? "test" : "train"));
  }
  write_text(shop / "mine.xyz", text);
  write_qm7(shop / "qm7", molecules);
  const std::string data = (shop / "mine.xyz").string(), qm7 = (shop / "qm7").string(), run = (shop / "xyz").string();
  const auto info = shop.run_well({"info", data});
  CHECK_THAT(info.out, Catch::Contains("mine.xyz: 20 graphs") &&
                           Catch::Contains("task: regression, 1 target: energy") &&
                           Catch::Contains("coordinates: yes") && Catch::Contains("16 train, 0 validation, 4 test"));
  CHECK_THAT(info.err, Catch::Contains("mine.xyz: label \"energy\", numbers: regression; left out: \"kind\""));
  const Words small = {"--epochs", "2", "--json", "--head", "sum", "--distance-channels", "4"};
  const auto metrics = [&](const std::string& out, const Words& more) {
    return nlohmann::json::parse(shop.run_well(shop.train(out, small + more)).out).at("metrics");
  };
  const nlohmann::json of_xyz = metrics("xyz", {"--data", data, "--label-columns", "energy"});
  CHECK(metrics("qm7_run", {"--data", qm7}) == of_xyz);  // the same molecules, energies and split
  CHECK(nlohmann::json::parse(shop.run_well({"eval", run, "--json"}).out).at("metrics") == of_xyz);
  CHECK_THAT(read_text(shop / "xyz/split.csv"), Catch::Contains("test,4,mine.xyz:4,"));
  CHECK_THAT(read_text(shop / "qm7_run/split.csv"), Catch::Contains("test,4,0005.xyz,"));
  // Molecules to predict need no labels.
  write_text(shop / "new.xyz", xyz_text(molecules[0], "") + xyz_text(molecules[1], "as it was"));
  const std::string file = (shop / "new.xyz").string(), table = (shop / "table.csv").string();
  const Words found = lines_of(shop.run_well({"predict", run, file, "--json", "--csv", table}).out);
  const Words items = lines_of(shop.run_well({"predict", run, "--graphs", "0,1", "--json"}).out);
  REQUIRE((found.size() == 2 && items.size() == 2));
  for (size_t i = 0; i < found.size(); ++i) {
    const auto one = nlohmann::json::parse(found[i]), item = nlohmann::json::parse(items[i]);
    CHECK((one.at("name") == "new.xyz:" + std::to_string(i) && item.at("name") == "mine.xyz:" + std::to_string(i)));
    CHECK(one.at("values").at("energy").get<double>() ==
          Approx(item.at("values").at("energy").get<double>()).epsilon(1e-5));
  }
  const Words rows = lines_of(read_text(table));
  REQUIRE(rows.size() == 3);
  CHECK_THAT(rows[0], Catch::StartsWith("file,graph,name,energy,"));
  CHECK_THAT(rows[2], Catch::StartsWith(file + ",1,new.xyz:1,"));
  const Words of_qm7 = lines_of(shop.run_well({"predict", (shop / "qm7_run").string(), "--graphs", "4", "--json"}).out);
  CHECK(nlohmann::json::parse(of_qm7.at(0)).at("name") == "0005.xyz");
  // A model of one form is evaluated on molecules of the other one.
  shop.run_well({"eval", run, "--data", qm7, "--split", "all"});
}

TEST_CASE("labels of molecules with coordinates that are not there are told") {
  const GraphShop shop;
  write_text(shop / "mine.xyz", "1\ngap=1 E=-1\nHe 0 0 0\n1\nE=-2.5 gap=2\nHe 0 0 0\n1\nE=-3 gap=4\nHe 0 0 0\n");
  write_text(shop / "plain.xyz", "1\n-1.5\nHe 0 0 0\n1\n-2\nHe 0 0 0\n");
  write_text(shop / "broken.xyz", "1\nE=-1\nHe 0 0 0\nHe 0 0 0\n");
  const auto file = [&](const char* name) { return (shop / name).string(); };
  shop.refuses(shop.train("run", {"--data", file("mine.xyz"), "--label-columns", "energy"}), 1,
               {"mine.xyz:2: expected a column \"energy\", found the columns gap, E"});
  shop.refuses({"info", file("plain.xyz")}, 1,
               {"plain.xyz:2: expected KEY=NUMBER in the comments", "--label-columns energy", "\"comment\""});
  shop.refuses(
      {"info", file("broken.xyz")}, 1,
      {"broken.xyz:4: expected the end of the file after 1 atoms, or the number of atoms of another molecule"});
  CHECK_THAT(shop.run_well({"info", file("mine.xyz")}).out, Catch::Contains("2 targets: gap, E"));
  CHECK_THAT(shop.run_well({"info", file("plain.xyz"), "--label-columns", "comment"}).out, Catch::Contains("comment"));
  write_text(shop / "qm9/dsgdb9nsd_000001.xyz", "1\ngdb 1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\nHe 0 0 0 0\n");
  CHECK_THAT(shop.run_well({"info", file("qm9"), "--label-columns", "homo,gap"}).out,
             Catch::Contains("2 targets: homo, gap"));
  shop.refuses({"info", file("qm9"), "--label-columns", "lomo"}, 1, {"targets of QM9, A, B, C", "\"lomo\""});
}

}  // namespace geosft::test::test_graph_molecules
