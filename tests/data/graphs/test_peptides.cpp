// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/data/graphs/molecules.h"
#include "tests/data/gz_files.h"
#include "tests/support.h"

namespace geosft::test::test_peptides {
using test::require_equal;
using test::require_error;
using Items = std::vector<int64_t>;

namespace {

const std::string func_header = ",smiles,peptide_seq,labels,identifier\n";
const std::string none = "\"[0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\"", last = "\"[0, 0, 0, 0, 0, 0, 0, 0, 0, 1]\"";
const std::string func_rows =
    "0,CO,A," + none + ",4\n1,C(C,B," + last + ",5\n2,C,C," + last + ",6\n3,CN,D," + none + ",7\n";

void write_split(const test::TemporaryFolder& folder, const std::string& train = "3\n1\n") {
  test::write_gz(folder / "split_train.txt.gz", train);
  test::write_text(folder / "split_val.txt", "2\n");
  test::write_text(folder / "split_test.txt", "0\n");
}

PackedItems read_func(const test::TemporaryFolder& folder, const std::string& table) {
  test::write_gz(folder / "peptide_multi_class_dataset.csv.gz", table);
  return read_peptides(folder.path(), {folder / "cache"});
}

void require_broken(const std::string& table, const std::vector<std::string>& words) {
  const test::TemporaryFolder folder;
  write_split(folder);
  require_error([&] { read_func(folder, table); }, words);
}

}  // namespace

TEST_CASE("Peptides-func: graphs, labels, split, and rows left out") {
  if (!test::has_rdkit()) return;
  const test::TemporaryFolder folder;
  write_split(folder);
  CHECK_FALSE(is_peptides(folder.path()));
  const PackedItems packed = read_func(folder, func_header + func_rows);
  CHECK(is_peptides(folder.path()));
  CHECK(packed.schema.task == GraphTask::multi_label);
  CHECK(packed.schema.outputs() == 10);
  CHECK(packed.size() == 3);
  require_equal(packed.target.select(1, 9), at::tensor({0.0F, 1.0F, 0.0F}), "toxic");
  REQUIRE(packed.split);
  CHECK(packed.split->train == Items{2});
  CHECK(packed.split->validation == Items{1});
  CHECK(packed.split->test == Items{0});
  REQUIRE(packed.warnings.size() == 2);
  CHECK_THAT(packed.warnings[1], Catch::Contains("peptide_multi_class_dataset.csv.gz:3"));
}

TEST_CASE("Peptides: the cache gives the same, and goes stale with its files") {
  if (!test::has_rdkit()) return;
  const test::TemporaryFolder folder;
  write_split(folder);
  const PackedItems made = read_func(folder, func_header + func_rows);
  int64_t calls = 0;
  const GraphReadOptions options = {folder / "cache", [&](int64_t, int64_t) { ++calls; }};
  const PackedItems kept = read_peptides(folder.path(), options);
  CHECK(calls == 0);
  CHECK(kept.schema == made.schema);
  CHECK(kept.warnings == made.warnings);
  require_equal(kept.node_categories, made.node_categories, "atoms");
  require_equal(kept.edge_categories, made.edge_categories, "bonds");
  require_equal(kept.target, made.target, "labels");
  CHECK(kept.split->train == made.split->train);
  write_split(folder, "3\n");
  CHECK(read_peptides(folder.path(), options).size() == 3);
  CHECK(calls == 4);
}

TEST_CASE("Peptides-struct: standardised targets") {
  if (!test::has_rdkit()) return;
  const test::TemporaryFolder folder;
  write_split(folder, "3\n1\n");
  std::string header = "smiles", row = ",1,2,3,4,5,6,7,8,9,10,11\n", other = ",3,2,3,4,5,6,7,8,9,10,13\n";
  for (const char* name :
       {"Inertia_mass_a", "Inertia_mass_b", "Inertia_mass_c", "Inertia_valence_a", "Inertia_valence_b",
        "Inertia_valence_c", "length_a", "length_b", "length_c", "Spherocity", "Plane_best_fit"}) {
    header += std::string(",") + name;
  }
  test::write_text(folder / "peptide_structure_dataset.csv",
                   header + "\nC" + row + "CC" + other + "CCC" + row + "CCCC" + other);
  const PackedItems packed = read_peptides(folder.path(), {folder / "cache"});
  CHECK(packed.schema.task == GraphTask::regression);
  CHECK(packed.schema.output_names.back() == "Plane_best_fit");
  const auto deviation = static_cast<float>(std::sqrt(4.0 / 3));
  const at::Tensor expected = at::tensor({-1.0F, 1.0F, -1.0F, 1.0F}) / deviation;
  test::require_close(packed.target.select(1, 0), expected, 1e-6, "a target that varies");
  test::require_close(packed.target.select(1, 10), expected, 1e-6, "another");
  require_equal(packed.target.select(1, 4), at::zeros({4}), "one that does not");
}

TEST_CASE("Peptides: broken tables and absent files are refused") {
  if (!test::has_rdkit()) return;
  const std::string file = "peptide_multi_class_dataset.csv.gz";
  require_broken("", {file, "names of the columns", "empty"});
  require_broken(func_header, {file, "a row for every peptide", "none"});
  require_broken(",smile,peptide_seq,labels,identifier\n", {file + ":1", "\"smiles\"", "none of this name"});
  require_broken(",smiles,peptide_seq,label,identifier\n", {file + ":1", "\"labels\""});
  require_broken(func_header + func_rows + "4,C,A," + none + "\n", {file + ":6", "5 columns", "4"});
  require_broken(func_header + "0,C,A,\"[0, 1]\",4\n", {file + ":2", "10 labels", "[0, 1]"});
  require_broken(func_header + "0,C,A,\"[0, 0, 0, 0, 0, 0, 0, 0, 0, 2]\",4\n", {file + ":2", "10 labels"});
  require_broken(func_header + "0,C,A,1,4\n", {file + ":2", "in brackets", "\"1\""});
  require_broken(func_header + "0,C,A," + none + ",4\n", {"split_train.txt.gz:1", "0 to 0", "3"});
  const test::TemporaryFolder folder;
  require_error([&] { read_func(folder, func_header + func_rows); }, {"split_train.txt", "no such file"});
  const test::TemporaryFolder empty;
  require_error([&] { read_peptides(empty.path()); }, {"peptide_multi_class_dataset.csv", "neither"});
}

TEST_CASE("Peptides-func: the real set") {
  const auto folder = test::real_data("peptides-func");
  if (folder.empty() || !test::has_rdkit()) return;
  const test::TemporaryFolder cache;
  const PackedItems packed = read_peptides(folder, {cache.path()});
  CHECK(packed.size() == 15535);
  CHECK(packed.graphs.graph.nodes() == 2344859);
  CHECK(packed.graphs.graph.edges() == 4773974);
  CHECK(packed.warnings.empty());
  REQUIRE(packed.split);
  CHECK(packed.split->train.size() == 10873);
  CHECK(packed.split->validation.size() == 2331);
  CHECK(packed.split->test.size() == 2331);
  const PackedItems kept = read_peptides(folder, {cache.path()});
  CHECK(at::equal(kept.node_categories, packed.node_categories));
  CHECK(at::equal(kept.edge_categories, packed.edge_categories));
  CHECK(at::equal(kept.graphs.graph.col, packed.graphs.graph.col));
  CHECK(at::equal(kept.target, packed.target));
}

}  // namespace geosft::test::test_peptides
