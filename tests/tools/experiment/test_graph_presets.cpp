// SPDX-License-Identifier: Apache-2.0
#include "tests/places.h"
#include "tools/experiment/graph_presets.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/data/graphs/molecules.h"
#include "tests/data/graphs/small_graphs.h"
#include "tools/experiment/automatic_settings.h"

namespace geosft::test::test_graph_presets {

TEST_CASE("presets of graphs and of molecules hold permitted values", "[graph_presets]") {
  GraphSettings graphs;
  graphs.config().set_text(small_graph_preset());
  graphs.check();
  resolve_automatic(graphs, small_graphs());
  graphs.check();
  CHECK((graphs.model.dim == 32 && graphs.model.num_heads == 4 && graphs.model.depth == 3));
  CHECK(graphs.model.sampling.num_samples == 4);
  CHECK(graphs.splits.validation_fraction == 0.0);  // of fewer than five graphs
  graphs.config().set_text(small_graph_preset() + graph_kernel_preset());
  graphs.check();
  CHECK(graphs.molecules.vector().statistics);
  CHECK(graphs.molecules.vector().fingerprints.size() == 4);
  GraphSettings molecules;
  molecules.config().set_text(small_molecule_preset(/*regression=*/false));
  molecules.check();
  CHECK(molecules.ensemble == 1);
  CHECK(molecules.molecules.vector().descriptors);
  CHECK(molecules.molecules.fingerprint == "none");
}

TEST_CASE("the preset of molecules is one model of molecules.toml", "[graph_presets]") {
  GraphSettings preset, file;
  preset.config().set_text(small_molecule_preset(/*regression=*/true));
  file.config().load_toml(source_path("tools/configs/graph/molecules.toml"));
  CHECK(file.ensemble == 5);
  CHECK(file.molecules.kernel_ridge);
  CHECK(file.molecules.random_forest);
  file.ensemble = preset.ensemble;
  file.molecules.kernel_ridge = preset.molecules.kernel_ridge;
  file.molecules.random_forest = preset.molecules.random_forest;
  file.data = preset.data;
  file.train.checkpoint_every = preset.train.checkpoint_every;
  CHECK(file.config().to_toml() == preset.config().to_toml());
}

TEST_CASE("a TU set gets a regression beside the transformer, other graphs do not", "[graph_presets]") {
  const TemporaryFolder folder;
  for (const char* name : {"A", "graph_indicator", "graph_labels"}) {
    write_text(folder / "set" / ("SET_" + std::string(name) + ".txt"), "1, 1\n");
  }
  write_text(folder / "edges.txt", "0 1\n");
  CHECK(small_preset((folder / "set").string(), {}, {}) == small_graph_preset() + graph_kernel_preset());
  for (const std::string& data : {(folder / "edges.txt").string(), (folder / "absent").string(), std::string()}) {
    CHECK(small_preset(data, {}, {}) == small_graph_preset());
  }
}

TEST_CASE("molecules are told by their SMILES", "[graph_presets]") {
  const TemporaryFolder folder;
  write_text(folder / "m.csv", "name,SMILES,y\na,CO,1\n");
  write_text(folder / "edges.csv", "0,1\n1,2\n");
  write_text(folder / "table.txt", "structure,y\nCO,1\n");
  write_text(folder / "ogb/mapping/mol.csv.gz", "");
  CHECK(names_molecules((folder / "m.csv").string(), {}));
  CHECK_FALSE(names_molecules((folder / "edges.csv").string(), {}));
  CHECK_FALSE(names_molecules((folder / "table.txt").string(), {}));
  GraphReadOptions named;
  named.smiles_column = "structure";
  CHECK(names_molecules((folder / "table.txt").string(), named));
  CHECK(names_molecules((folder / "ogb").string(), {}));
  CHECK_FALSE(names_molecules((folder / "absent").string(), {}));
}

}  // namespace geosft::test::test_graph_presets
