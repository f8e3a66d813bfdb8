// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_formats.h"

#include <catch2/catch.hpp>

#include "data/graphs/packed_graphs_file.h"
#include "tests/data/files.h"
#include "tests/data/graphs/small_graphs.h"
#include "tests/data/gz_files.h"
#include "tests/support.h"

namespace geosft::test::test_graph_formats {
namespace {

using Kind = GraphFileFormat::Kind;

const std::string matrix = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n";

}  // namespace

TEST_CASE("a graph's file in another encoding, or of another kind, says what it is") {
  const TemporaryFolder folder;
  for (const char* name : {"a.txt", "a.mtx", "a.smi", "a.xyz", "a"}) {
    write_text(folder / name, std::string("\xFF\xFE"
                                          "0\0 \0"
                                          "1\0",
                                          8));
    require_error([&] { graph_file_format(folder / name); }, {name, "UTF-16", "iconv"});
    write_gz(folder / name, "<!doctype html>\n");
    require_error([&] { graph_file_format(folder / name); }, {name, "an HTML page"});
    write_text(folder / name, "version https://git-lfs.github.com/spec/v1\n");
    require_error([&] { is_graph_file(folder / name); }, {name, "Git LFS pointer"});
  }
}

TEST_CASE("a graph's file is told by its contents first") {
  const TemporaryFolder folder;
  const auto kind = [&](const std::string& name, const std::string& text) {
    write_text(folder / name, text);
    return graph_file_format(folder / name).kind;
  };
  for (const char* name : {"a.mm", "a.MTX", "a.txt", "a", "a.mtx.gz", "a.h5"}) {
    CHECK(kind(name, matrix) == Kind::matrix_market);
    CHECK(read_graph_file(folder / name).graph.edges() == 4);
    write_gz(folder / name, matrix);
    CHECK(read_graph_file(folder / name).graph.edges() == 4);
  }
  CHECK(kind("marked.txt", "\xEF\xBB\xBF" + matrix) == Kind::matrix_market);
  CHECK(read_graph_file(folder / "marked.txt").graph.edges() == 4);
  CHECK(kind("table.csv", "id,\"SMILES\"\r\n1,C\n") == Kind::smiles);
  CHECK(kind("table.txt", "smiles,y\nC,1\n") == Kind::smiles);
  write_packed_graphs(folder / "packed.txt", small_graphs());
  CHECK(graph_file_format(folder / "packed.txt").kind == Kind::packed_graphs);
}

TEST_CASE("a graph's file is told by its ending second, in any letter case") {
  const TemporaryFolder folder;
  const auto kind = [&](const std::string& name) {
    write_text(folder / name, "0 1\n1 2\n");
    return graph_file_format(folder / name).kind;
  };
  for (const char* name : {"a.txt", "a.CSV", "a.edges", "a.tsv.GZ", "a.EdgeList", "a"}) {
    CHECK(kind(name) == Kind::edge_list);
    CHECK(is_graph_file(folder / name));
    CHECK(read_graph_file(folder / name).graph.edges() == 4);
  }
  CHECK(kind("a.Mtx") == Kind::matrix_market);
  CHECK(is_graph_file(folder / "a.Mtx"));
  require_error([&] { read_graph_file(folder / "a.Mtx"); }, {"a.Mtx:1", "MatrixMarket"});
  for (const auto& [name, expected] :
       {std::pair("a.smi", Kind::smiles), std::pair("a.SMILES.gz", Kind::smiles), std::pair("a.XYZ", Kind::molecule),
        std::pair("a.extxyz.gz", Kind::molecule), std::pair("a.h5", Kind::packed_graphs)}) {
    CHECK(kind(name) == expected);
    CHECK_FALSE(is_graph_file(folder / name));
    CHECK(is_xyz_file(folder / name) == (expected == Kind::molecule));
    require_error([&, n = name] { read_graph_file(folder / n); }, {name, "an edge list or Matrix Market"});
  }
}

TEST_CASE("a file of an unknown format is no edge list, and the message lists the formats") {
  const TemporaryFolder folder;
  // METIS, GraphML, and a text.
  for (const auto& [name, text] : {std::pair("a.graph", "2 1\n2\n1\n"), std::pair("a.graphml", "<graphml/>"),
                                   std::pair("a", "graph of 3 nodes\n"), std::pair("b", "")}) {
    write_text(folder / name, text);
    CHECK(find_graph_file_format(folder / name) == nullptr);
    CHECK_FALSE(is_graph_file(folder / name));
    require_error([&, n = name] { read_graph_file(folder / n); },
                  {name, "packed graphs in HDF5 (*.h5, *.hdf5)", "Matrix Market (*.mtx, *.mm)", "SMILES",
                   "molecules with coordinates (*.xyz, *.extxyz)", " or an edge list (*.txt, *.csv", "another format"});
  }
  CHECK_FALSE(is_graph_file(folder.path()));
  CHECK_FALSE(is_graph_file(folder / "absent"));
  require_error([&] { graph_file_format(folder / "absent"); }, {"absent", "nothing of this name"});
}

TEST_CASE("spreadsheets and files of structures are refused with what converts them") {
  const TemporaryFolder folder;
  write_text(folder / "m.SDF", "\n  RDKit\n");
  write_text(folder / "m.xlsx", "PK");
  require_error([&] { find_graph_file_format(folder / "m.SDF"); }, {"m.SDF", "LoadSDF", "a file of structures"});
  require_error([&] { find_graph_file_format(folder / "m.xlsx"); }, {"m.xlsx", "read_excel", "a spreadsheet"});
}

}  // namespace geosft::test::test_graph_formats
