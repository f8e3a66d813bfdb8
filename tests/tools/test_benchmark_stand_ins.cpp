// SPDX-License-Identifier: Apache-2.0
// tools/benchmark_stand_ins.py, and the configurations of the sets whose place its files take.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "data/graphs/graph_dataset.h"
#include "data/graphs/packed_graphs_file.h"
#include "tests/data/graphs/molecules.h"
#include "tests/places.h"
#include "tests/support.h"
#include "tests/tools/experiment/command_line.h"
#include "tests/tools/experiment/python.h"

namespace geosft::test::test_benchmark_stand_ins {
namespace {

ProcessResult script(const std::string& name, const Words& words) {
  static const std::string interpreter = find_python();
  return python(interpreter, Words{source_path("tools/") + name} + words);
}

void run_script(const std::string& name, const Words& words) {
  const ProcessResult result = script(name, words);
  INFO(result.err);
  REQUIRE(result.exit == 0);
}

// One epoch of a small model by a configuration of the paper's experiments, with two seeds: the table.
std::string table_of(const std::string& config, const std::string& data, const TemporaryFolder& folder) {
  const Words sizes = {"--set", "epochs=1", "dim=16", "num_heads=2", "depth=1", "num_seeds=2"};
  const ProcessResult result = run_process(
      program_path("geosft-graph"),
      Words{"sweep", source_path("tools/configs/graph/") + config, "--data", data, "--out", folder / "sweep"} + sizes,
      {});
  INFO(result.err);
  REQUIRE(result.exit == 0);
  return result.out;
}

}  // namespace

TEST_CASE("benchmark_stand_ins: peptides of the published form run to a table of Peptides-struct") {
  if (find_python().empty() || !has_rdkit()) return;
  const TemporaryFolder folder;
  const std::string data = folder / "peptides";
  run_script("benchmark_stand_ins.py", {"peptides-struct", "--out", data, "--graphs", "24"});
  run_script("convert_graphs.py", {"split", data + "/split.pickle", "--out", data});
  const PackedItems packed = read_peptides(data, {folder / "cache"});
  CHECK(packed.size() == 24);
  CHECK(packed.schema.task == GraphTask::regression);
  CHECK(packed.schema.outputs() == 11);
  REQUIRE(packed.split);
  CHECK(packed.split->train.size() == 16);
  CHECK(packed.split->validation.size() == 4);
  CHECK(packed.split->test.size() == 4);
  CHECK_THAT(table_of("peptides_struct.toml", data, folder), Catch::Contains("MAE") || Catch::Contains("mae"));
}

TEST_CASE("benchmark_stand_ins: superpixels of the published form run to a table of PascalVOC-SP") {
  if (find_python().empty()) return;
  const TemporaryFolder folder;
  const std::string made = folder / "voc", data = folder / "voc.h5";
  run_script("benchmark_stand_ins.py", {"pascalvoc-sp", "--out", made, "--graphs", "9", "--nodes", "25"});
  run_script("convert_graphs.py", {"superpixels", "--train", made + "/train.pickle", "--val", made + "/val.pickle",
                                   "--test", made + "/test.pickle", "--out", data});
  const PackedItems packed = read_packed_graphs(data);
  CHECK(packed.size() == 9);
  CHECK(packed.schema.task == GraphTask::node_classification);
  CHECK(packed.schema.node_values == 14);
  CHECK(packed.schema.edge_values == 2);
  CHECK_THAT(table_of("pascalvoc_sp.toml", data, folder), Catch::Contains("F1") || Catch::Contains("f1"));
}

TEST_CASE("benchmark_stand_ins: the files follow from the seed, and wrong use is one line") {
  if (find_python().empty()) return;
  const TemporaryFolder folder;
  const auto made = [&](const std::string& name, const std::string& seed) {
    run_script("benchmark_stand_ins.py",
               {"pascalvoc-sp", "--out", folder / name, "--graphs", "3", "--nodes", "9", "--seed", seed});
    return read_text(folder / name / "train.pickle");
  };
  const std::string first = made("a", "1");
  CHECK(made("b", "1") == first);
  CHECK(made("c", "2") != first);
  const auto refused = [&](const Words& words, const std::string& word) {
    const ProcessResult result = script("benchmark_stand_ins.py", words);
    CHECK(result.exit == 2);
    CHECK_THAT(result.err, Catch::Contains(word));
  };
  refused({"pascalvoc-sp", "--out", folder / "a"}, "a is there already");
  refused({"pascalvoc-sp", "--out", folder / "d", "--graphs", "2"}, "--graphs");
  refused({"peptides-struct", "--out", folder / "d", "--nodes", "9"}, "--nodes");
  CHECK_FALSE(std::filesystem::exists(folder / "d"));
}

}  // namespace geosft::test::test_benchmark_stand_ins
