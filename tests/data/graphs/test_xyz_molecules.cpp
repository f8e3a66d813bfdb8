// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"

#include <catch2/catch.hpp>

#include "tests/data/cached.h"
#include "tests/data/files.h"
#include "tests/data/graphs/graphs.h"
#include "tests/data/gz_files.h"
#include "tests/support.h"

namespace geosft::test::test_xyz_molecules {
using test::require_equal;
using test::require_error;
using Items = std::vector<int64_t>;

namespace {

const std::string hydrogen = "2\n\nH 0 0 0\nH 0.74 0 0\n", helium = "1\n\nHe 1 2 3\n";

void write_qm7(const test::TemporaryFolder& folder, const std::string& table) {
  test::write_text(folder / "xyz/0004.xyz", hydrogen);
  test::write_text(folder / "xyz/0005.xyz", helium);
  test::write_text(folder / "hof_qm7.txt", table);
}

void require_broken(const std::string& table, const std::vector<std::string>& words) {
  const test::TemporaryFolder folder;
  write_qm7(folder, table);
  require_error([&] { read_xyz_molecules(folder.path(), {folder / "cache"}); }, words);
}

}  // namespace

TEST_CASE("molecules: the cache gives the same, and goes stale with any file") {
  const test::TemporaryFolder folder;
  write_qm7(folder, "0005.xyz -1.5 -2\n0004.xyz -109.25 -111\n");
  const auto read = [&] { return read_xyz_molecules(folder.path(), {folder / "cache"}); };
  const PackedItems made = read();
  test::require_same(read(), made);
  CHECK(test::mark_cached(folder / "cache", "from the cache") == 1);
  CHECK(read().warnings == std::vector<std::string>{"from the cache"});
  test::write_text(folder / "xyz/0005.xyz", "1\n\nHe 1 2 4\n");
  CHECK(read().coordinates[0][2].item<float>() == 4);
  CHECK(read().warnings.empty());
}

TEST_CASE("QM7: atoms, bonds, coordinates, energies and split") {
  const test::TemporaryFolder folder;
  CHECK_FALSE(is_xyz_molecules(folder.path()));
  write_qm7(folder, "0005.xyz -1.5 -2\n0004.xyz -109.25 -111\n");
  CHECK(is_xyz_molecules(folder.path()));
  const PackedItems packed = read_xyz_molecules(folder.path(), {folder / "cache"});
  CHECK(packed.schema.task == GraphTask::regression);
  CHECK(packed.schema.coordinates);
  require_equal(packed.graphs.ptr, at::tensor({0, 1, 3}, at::kLong), "ptr");
  require_equal(packed.graphs.graph.rowptr, at::tensor({0, 0, 1, 2}, at::kLong), "rowptr");
  require_equal(packed.graphs.graph.col, at::tensor({2, 1}, at::kLong), "col");
  require_equal(packed.node_categories, at::tensor({1, 0, 0}, at::kLong).view({3, 1}), "elements");
  require_equal(packed.coordinates[0], at::tensor({1.0F, 2.0F, 3.0F}), "coordinates");
  test::require_close(packed.edge_values, at::full({2, 1}, 0.74 / 0.62), 1e-6, "stretch");
  require_equal(packed.target, at::tensor({-1.5F, -109.25F}).view({2, 1}), "energies");
  REQUIRE(packed.split);
  CHECK(packed.split->test == Items{0});
  CHECK(packed.split->train == Items{1});
  CHECK(packed.split->validation.empty());
  CHECK(packed.warnings.empty());
  test::write_text(folder / "xyz/0006.xyz", helium);
  REQUIRE(read_xyz_molecules(folder.path(), {folder / "cache"}).warnings.size() == 1);
  CHECK_THAT(read_xyz_molecules(folder.path(), {folder / "cache"}).warnings[0],
             Catch::Contains("1 files") && Catch::Contains("not listed"));
}

TEST_CASE("QM7: broken tables and molecules are refused") {
  require_broken("", {"hof_qm7.txt", "a line for every molecule"});
  require_broken("0004.xyz -1 -2\n0004.xyz -1 -2\n", {"hof_qm7.txt:2", "once", "0004.xyz again"});
  require_broken("0007.xyz -1 -2\n", {"hof_qm7.txt:1", "0007.xyz", "not there"});
  require_broken("0004.pdb -1 -2\n", {"hof_qm7.txt:1", "NUMBER.xyz", "0004.pdb"});
  require_broken("a.xyz -1 -2\n", {"hof_qm7.txt:1", "NUMBER.xyz"});
  require_broken("../xyz/4.xyz -1\n", {"hof_qm7.txt", "files in its folder", "../xyz/4.xyz"});
  require_broken("/4.xyz -1\n", {"hof_qm7.txt", "files in its folder", "/4.xyz"});
  require_broken("0004.xyz x\n", {"hof_qm7.txt:1", "an energy", "x"});
  const test::TemporaryFolder folder;
  require_error([&] { read_xyz_molecules(folder.path(), {folder / "cache"}); },
                {"hof_qm7.txt", "dsgdb9nsd_", "neither"});
  write_qm7(folder, "0004.xyz -1 -2\n");
  test::write_text(folder / "xyz/0004.xyz", "3\n\nH 0 0 0\n");
  require_error([&] { read_xyz_molecules(folder.path(), {folder / "cache"}); }, {"0004.xyz", "3 atoms", "1"});
}

TEST_CASE("coordinates of molecules in another unit have a warning, and gzip files are unpacked") {
  const test::TemporaryFolder folder;
  const auto warning = [&](const std::string& text) {
    test::write_gz(folder / "one.xyz.gz", text);
    const PackedItems packed = read_xyz_graph(folder / "one.xyz.gz");
    return packed.warnings.empty() ? "" : packed.warnings.at(0);
  };
  CHECK(warning(hydrogen).empty());
  CHECK(warning(helium).empty());
  CHECK_THAT(warning("2\n\nH 0 0 0\nH 0.074 0 0\n"),
             Catch::Contains("one.xyz.gz: atoms are closer than half a bond: ") &&
                 Catch::EndsWith("coordinates are taken in Angstrom"));
  CHECK_THAT(warning("2\n\nH 0 0 0\nH 1.4 0 0\n"), Catch::Contains("no two atoms are near enough for a bond"));
  CHECK_THAT(warning("2\n\nC 1 2 3\nC 1 2 3\n"), Catch::Contains("closer than half a bond"));
  write_qm7(folder, "0005.xyz -1.5 -2\n0004.xyz -109.25 -111\n");
  test::write_text(folder / "xyz/0004.xyz", "2\n\nH 0 0 0\nH 74 0 0\n");
  const std::vector<std::string> warnings = read_xyz_molecules(folder.path(), {folder / "cache"}).warnings;
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Catch::Contains("near enough for a bond in 1 of 2 molecules: coordinates are taken"));
}

TEST_CASE("QM9: properties of the comments") {
  const test::TemporaryFolder folder;
  const std::string rest = "\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t12\t13\t14";
  test::write_text(folder / "dsgdb9nsd_000002.xyz",
                   "1\ngdb 2\t0.5" + rest + "\t\nHe\t0\t0\t0\t-0.1\n4.5\nS\tS\nI\tI\n");
  test::write_text(folder / "dsgdb9nsd_000001.xyz",
                   "2\ngdb 1\t-157.7" + rest + "\t\nH\t0\t0\t0\t0.1\nH\t7.4*^-1\t0\t0\t0.1\n4.5\nS\tS\nI\tI\n");
  CHECK(is_xyz_molecules(folder.path()));
  const PackedItems packed = read_xyz_molecules(folder.path(), {folder / "cache"});
  CHECK(packed.schema.output_names.size() == 15);
  require_equal(packed.target.select(1, 0), at::tensor({-157.7F, 0.5F}), "A");
  require_equal(packed.target.select(1, 14), at::tensor({14.0F, 14.0F}), "Cv");
  CHECK(packed.graphs.graph.edges() == 2);
  CHECK_FALSE(packed.split);
  test::write_text(folder / "dsgdb9nsd_000003.xyz", "1\ngdb 3\t0.5\t1\nHe 0 0 0\n");
  require_error([&] { read_xyz_molecules(folder.path(), {folder / "cache"}); },
                {"dsgdb9nsd_000003.xyz", "the property C", "end of the line"});
  test::write_text(folder / "dsgdb9nsd_000003.xyz", "1\n\nHe 0 0 0\n");
  require_error([&] { read_xyz_molecules(folder.path(), {folder / "cache"}); }, {"dsgdb9nsd_000003.xyz", "gdb"});
}

TEST_CASE("QM7: the form of its files") {
  const test::TemporaryFolder folder;
  // Methane and water, six digits, no end of line after the last atom.
  test::write_text(folder / "xyz/0001.xyz",
                   "5\ncharge = 0\n C 1.041682 -0.056200 -0.071481\n H 1.671682 0.573800 0.558519\n"
                   " H 0.411682 -0.686200 0.558519\n H 0.411682 0.573800 -0.701481\n H 1.671682 -0.686200 -0.701481");
  test::write_text(folder / "xyz/0010.xyz",
                   "3\ncharge = 0\n O 0.000000 0.000000 0.117300\n H 0.000000 0.757200 -0.469200\n"
                   " H 0.000000 -0.757200 -0.469200");
  test::write_text(folder / "hof_qm7.txt", "0001.xyz -417.031 -431.787271961\n0010.xyz -219.250 -227.113907\n");
  const PackedItems packed = read_xyz_molecules(folder.path(), {folder / "cache"});
  require_equal(packed.graphs.ptr, at::tensor({0, 5, 8}, at::kLong), "ptr");
  require_equal(packed.target, at::tensor({-417.031F, -219.25F}).view({2, 1}), "energies");
  require_equal(packed.node_categories.squeeze(1), at::tensor({5, 0, 0, 0, 0, 7, 0, 0}, at::kLong), "elements");
  require_equal(packed.graphs.graph.rowptr, at::tensor({0, 4, 5, 6, 7, 8, 10, 11, 12}, at::kLong), "rowptr");
  require_equal(packed.graphs.graph.col, at::tensor({1, 2, 3, 4, 0, 0, 0, 0, 6, 7, 5, 5}, at::kLong), "col");
  REQUIRE(packed.split);
  CHECK((packed.split->train == Items{0} && packed.split->test == Items{1}));
}

TEST_CASE("QM7: the real set") {
  const auto folder = test::real_data("qm7");
  if (folder.empty()) return;
  const test::TemporaryFolder cache;
  const PackedItems packed = read_xyz_molecules(folder, {cache.path()});
  CHECK(packed.size() == 7101);
  CHECK(packed.graphs.graph.nodes() == 109600);
  CHECK(packed.warnings.empty());
  REQUIRE(packed.split);
  CHECK(packed.split->train.size() + packed.split->test.size() == 7101);
  CHECK(packed.target[0].item<float>() == -417.031F);
  // Methane, the first: four bonds, all from the carbon.
  require_equal(packed.graphs.graph.rowptr.narrow(0, 0, 6), at::tensor({0, 4, 5, 6, 7, 8}, at::kLong), "methane");
  // Neighbours that an element can have: hydrogen 1, oxygen 2, nitrogen and carbon 4, sulphur 6.
  const at::Tensor degree = packed.graphs.graph.rowptr.diff(), element = packed.node_categories.squeeze(1) + 1;
  const std::vector<std::pair<int64_t, int64_t>> max_bonds = {{1, 1}, {6, 4}, {7, 4}, {8, 2}, {16, 6}};
  for (const auto& [number, bonds] : max_bonds) {
    const at::Tensor of_element = degree.masked_select(element == number);
    CHECK(of_element.min().item<int64_t>() >= 1);
    CHECK(of_element.max().item<int64_t>() <= bonds);
  }
}

}  // namespace geosft::test::test_xyz_molecules
