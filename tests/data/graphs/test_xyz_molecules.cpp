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
using Names = std::vector<std::string>;

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
  CHECK(packed.names == Names{"0005.xyz", "0004.xyz"});
  CHECK(packed.schema.output_names == Names{"energy"});
  GraphReadOptions of_model{folder / "cache"};
  of_model.known = ItemSchema{GraphTask::regression, {119}, 0, {}, 1, true, {"atomisation energy (kcal/mol)"}};
  CHECK(read_xyz_molecules(folder.path(), of_model).schema == *of_model.known);
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
  test::write_text(folder / "xyz/0004.xyz", helium + hydrogen);
  require_error([&] { read_xyz_molecules(folder.path(), {folder / "cache"}); }, {"0004.xyz:4", "one molecule", "2"});
}

TEST_CASE("coordinates of molecules in another unit have a warning, and gzip files are unpacked") {
  const test::TemporaryFolder folder;
  const auto warning = [&](const std::string& text) {
    test::write_gz(folder / "one.xyz.gz", text);
    const PackedItems packed = read_xyz_graphs(folder / "one.xyz.gz");
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
  CHECK(packed.names == Names{"dsgdb9nsd_000001.xyz", "dsgdb9nsd_000002.xyz"});
  CHECK((is_qm9(folder.path()) && has_label_columns(folder.path(), {})));
  GraphReadOptions some{folder / "cache"};
  some.label_columns = {"gap", "a"};
  const PackedItems chosen = read_xyz_molecules(folder.path(), some);
  CHECK(chosen.schema.output_names == Names{"gap", "A"});
  require_equal(chosen.target, at::tensor({7.0F, -157.7F, 7.0F, 0.5F}).view({2, 2}), "gap and A");
  some.label_columns = {"lomo"};
  require_error([&] { read_xyz_molecules(folder.path(), some); },
                {folder.path().string(), "targets of QM9, A, B, C, mu", "\"lomo\""});
  some.label_columns = {"gap", "GAP"};
  require_error([&] { read_xyz_molecules(folder.path(), some); }, {"--label-columns", "once", "\"GAP\" again"});
  test::write_text(folder / "dsgdb9nsd_000003.xyz", "1\ngdb 3\t0.5\t1\nHe 0 0 0\n");
  require_error([&] { read_xyz_molecules(folder.path(), {folder / "cache"}); },
                {"dsgdb9nsd_000003.xyz", "the property C", "end of the line"});
  test::write_text(folder / "dsgdb9nsd_000003.xyz", "1\n\nHe 0 0 0\n");
  require_error([&] { read_xyz_molecules(folder.path(), {folder / "cache"}); }, {"dsgdb9nsd_000003.xyz", "gdb"});
}

TEST_CASE("an XYZ file of several molecules: atoms, names and labels of the comments") {
  const test::TemporaryFolder folder;
  const std::string second = "2\nenergy=-2.5 gap=0.5 kind=pair\nH 0 0 0\nH 0.74 0 0\n",
                    others = "1\ngap=1.5 energy=-3 kind=atom charge=0\nHe 0 0 0\n1\nkind=atom energy=-4\nHe 0 0 0\n";
  test::write_gz(folder / "m.xyz.gz", "1\nenergy=-1.5 kind=atom pbc=\"F F F\"\nHe 1 2 3\n" + second + others);
  const auto read = [&](const Names& labels) {
    GraphReadOptions options{folder / "cache"};
    options.label_columns = labels;
    return open_graph_dataset(folder / "m.xyz.gz", options);
  };
  const PackedItems packed = read({"energy"});
  CHECK(packed.schema == ItemSchema{GraphTask::regression, {119}, 0, {}, 1, true, {"energy"}});
  require_equal(packed.graphs.ptr, at::tensor({0, 1, 3, 4, 5}, at::kLong), "ptr");
  require_equal(packed.graphs.graph.col, at::tensor({2, 1}, at::kLong), "col");
  require_equal(packed.node_categories, at::tensor({1, 0, 0, 1, 1}, at::kLong).view({5, 1}), "elements");
  require_equal(packed.coordinates[0], at::tensor({1.0F, 2.0F, 3.0F}), "coordinates");
  require_equal(packed.target, at::tensor({-1.5F, -2.5F, -3.0F, -4.0F}).view({4, 1}), "energies");
  CHECK(packed.names == Names{"m.xyz:0", "m.xyz:1", "m.xyz:2", "m.xyz:3"});
  CHECK_FALSE(packed.split);
  CHECK(packed.warnings == Names{(folder / "m.xyz.gz").string() + ": label \"energy\", numbers: regression"});
  test::require_same(read({"energy"}), packed);
  CHECK(has_label_columns(folder / "m.xyz.gz", {}));
  // Two molecules have no gap.
  const PackedItems both = read({"gap", "energy"});
  CHECK(both.schema.output_names == Names{"gap", "energy"});
  require_equal(both.target.isnan().to(at::kLong), at::tensor({1, 0, 0, 0, 0, 0, 1, 0}, at::kLong).view({4, 2}),
                "unknown");
  const PackedItems classes = read({"kind"});
  CHECK(classes.schema.task == GraphTask::classification);
  require_equal(classes.target, at::tensor({0, 1, 0, 0}, at::kLong), "classes");
  require_error([&] { read({"energies"}); },
                {"m.xyz.gz:2", "\"energies\"", "the columns energy, kind, pbc, gap, charge"});
  require_error([&] { read({}); }, {"m.xyz.gz:2", "labels of one kind", "--label-columns", "\"gap\"", "\"energy\""});
  const PackedItems unlabelled = read_xyz_graphs(folder / "m.xyz.gz");
  CHECK((unlabelled.names == packed.names && !unlabelled.target.defined()));
  test::write_text(folder / "one.xyz", helium);
  CHECK(read_xyz_graphs(folder / "one.xyz").names == Names{"one.xyz"});
}

TEST_CASE("a folder of XYZ files: one or several molecules each, in the order of the names") {
  const test::TemporaryFolder folder;
  const auto data = folder / "mine";
  CHECK_FALSE(is_xyz_folder(data));
  test::write_text(data / "b.xyz", "2\nenergy=-2.5\nH 0 0 0\nH 0.74 0 0\n");
  CHECK(is_xyz_folder(data));
  test::write_gz(data / "a.extxyz.gz", "1\nenergy=-1.5 kind=x\nHe 1 2 3\n1\nkind=y\nHe 0 0 0\n");
  test::write_text(data / "C.XYZ", "1\nenergy=-3 gap=1\nHe 0 0 0\n");
  test::write_text(data / "notes.txt", "made by hand\n");
  test::write_text(data / ".b.xyz", "no molecule\n");
  const auto read = [&](const Names& labels) {
    GraphReadOptions options{folder / "cache"};
    options.label_columns = labels;
    return open_graph_dataset(data, options);
  };
  const PackedItems packed = read({"energy"});
  CHECK(packed.names == Names{"C.XYZ", "a.extxyz:0", "a.extxyz:1", "b.xyz"});
  CHECK(packed.schema.output_names == Names{"energy"});
  require_equal(packed.graphs.ptr, at::tensor({0, 1, 2, 3, 5}, at::kLong), "ptr");
  require_equal(packed.target.nan_to_num(7), at::tensor({-3.0F, -1.5F, 7.0F, -2.5F}).view({4, 1}), "energies");
  CHECK(packed.warnings == Names{data.string() + ": label \"energy\", numbers: regression"});
  test::require_same(read({"energy"}), packed);
  CHECK(has_label_columns(data, {}));
  // Messages name the file of a molecule, and the folder where no file has a label.
  require_error([&] { read({"energies"}); }, {data.string() + ": expected a column \"energies\"", "gap, kind"});
  const std::string texts = "\"kind\" (texts, as \"x\" in " + (data / "a.extxyz.gz").string() + ":2";
  CHECK_THAT(read({}).warnings.at(0), Catch::Contains(texts));
  const std::string numbers = "1\nenergy=-4\nHe 0 0 0\n1\nenergy=-5\nHe 0 0 0\n";  // the cache goes stale
  test::write_text(data / "b.xyz", numbers + "1\nenergy=high\nHe 0 0 0\n");
  require_error([&] { read({"energy"}); },
                {(data / "b.xyz").string() + ":8", "a number in column \"energy\"", "\"high\""});
  test::write_text(data / "b.xyz", "1\nenergy=1\nBk 0 0 0\n");
  require_error([&] { read({"energy"}); }, {(data / "b.xyz").string() + ":1", "radius", "97"});
  test::write_text(data / "b.xyz", "1\nenergy=1\nHe 0 0\n");
  require_error([&] { read({"energy"}); }, {(data / "b.xyz").string() + ":3"});
  test::write_text(data / "C.XYZ", "1\nenergy=1\nHe one 0 0\n");  // all broken files at once
  require_error([&] { read({"energy"}); }, {"2 broken files: " + (data / "C.XYZ").string() + ":3", "b.xyz:3"});
}

TEST_CASE("an XYZ file: labels without a name, plain comments and the split") {
  const test::TemporaryFolder folder;
  const auto read = [&](const std::vector<std::string>& comments, const Names& labels = {}) {
    std::string text;
    for (const std::string& comment : comments) text += "1\n" + comment + "\nHe 0 0 0\n";
    test::write_text(folder / "m.extxyz", text);
    GraphReadOptions options{folder / "cache"};
    options.label_columns = labels;
    return open_graph_dataset(folder / "m.extxyz", options);
  };
  const PackedItems found =
      read({"energy=1.5 charge=0 pbc=\"F F F\"", "energy=2 charge=0 pbc=\"F F F\"", "energy=4 charge=0 pbc=\"F F F\""});
  CHECK(found.schema.output_names == Names{"energy"});
  CHECK_THAT(found.warnings.at(0), Catch::Contains("label \"energy\", numbers: regression; left out: \"charge\" (one "
                                                   "value), \"pbc\" (texts, as \"F F F\" in line 2)"));
  require_error(
      [&] {
        read({"-1.5", "-2.5", "-4"});
      },
      {"m.extxyz:2", "KEY=NUMBER", "--label-columns energy", "left out: \"comment\" (by its name)"});
  const PackedItems comments = read({"-1.5", "-2.5", ""}, {"comment"});
  CHECK(comments.schema.output_names == Names{"comment"});
  CHECK(comments.target.isnan().sum().item<int64_t>() == 1);
  require_error([&] { read({"Properties=species:S:1:pos:R:3"}); }, {"m.extxyz:2", "KEY=NUMBER", "none"});
  require_error(
      [&] {
        read({"energy=1", "energy=x", "energy=2", "energy=3", "energy=5"});
      },
      {"m.extxyz:5", "a number in column \"energy\"", "\"x\""});
  const PackedItems split = read({"y=1 split=test", "y=3 split=train", "y=5 split=val", "y=6 split=train"});
  REQUIRE(split.split);
  CHECK((split.split->train == Items{1, 3} && split.split->validation == Items{2} && split.split->test == Items{0}));
  const PackedItems kept = read({"k=a split=test", "split=train", "k=b split=val", "k=a split=train"}, {"k"});
  CHECK(kept.names == Names{"m.extxyz:0", "m.extxyz:2", "m.extxyz:3"});
  CHECK((kept.split && kept.split->train == Items{2} && kept.split->validation == Items{1}));
  std::string keys;
  for (int key = 0; key < 101; ++key) keys += "k" + std::to_string(key) + "=1 ";
  require_error([&] { read({keys}); }, {"m.extxyz:2", "at most 100 different keys"});
  require_error([&] { read({"y=1 y=2"}); }, {"m.extxyz:2", "every key once in a comment, found y again"});
  test::write_text(folder / "lists/train.csv", "2\n");
  test::write_text(folder / "lists/valid.csv", "1\n");
  test::write_text(folder / "lists/test.csv", "0\n");
  GraphReadOptions listed{folder / "cache"};
  listed.split_folder = folder / "lists";
  test::write_text(folder / "m.extxyz", "1\ny=1\nHe 0 0 0\n1\ny=2\nHe 0 0 0\n1\ny=4\nHe 0 0 0\n");
  CHECK(open_graph_dataset(folder / "m.extxyz", listed).split->train == Items{2});
  // Labels of a trained model are found by their names, and others are unknown.
  GraphReadOptions of_model{folder / "cache"};
  of_model.known = ItemSchema{GraphTask::regression, {119}, 0, {}, 1, true, {"z", "y"}};
  const PackedItems known = open_graph_dataset(folder / "m.extxyz", of_model);
  CHECK(known.schema == *of_model.known);
  require_equal(known.target.select(1, 1), at::tensor({1.0F, 2.0F, 4.0F}), "y");
  CHECK(known.target.select(1, 0).isnan().all().item<bool>());
  test::write_text(folder / "m.extxyz", "1\ny=1\nHe 0 0 0\n1\ny=2\nBk 0 0 0\n");
  require_error([&] { open_graph_dataset(folder / "m.extxyz", of_model); }, {"m.extxyz:4", "radius", "97"});
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
  CHECK(packed.schema.output_names == Names{"atomisation energy (kcal/mol)"});
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
