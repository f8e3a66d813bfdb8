// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <set>
#include <utility>

#include "data/cache_folder.h"
#include "data/data_error.h"
#include "data/formats/compression.h"
#include "data/formats/elements.h"
#include "data/formats/text_lines.h"
#include "data/formats/xyz_molecule.h"
#include "data/read_file.h"
#include "data/safe_join.h"
#include "geometry/packed.h"
#include "geometry/threads.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Increment whenever the result for the same files changes.
constexpr const char* xyz_version = "xyz 2";

constexpr const char* qm7_table = "hof_qm7.txt";
constexpr std::string_view qm9_prefix = "dsgdb9nsd_";
const std::vector<std::string> qm9_targets = {"A",  "B",    "C",  "mu", "alpha", "homo", "lumo", "gap",
                                              "r2", "zpve", "U0", "U",  "H",     "G",    "Cv"};

std::vector<fs::path> xyz_files(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(".xyz")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct ListedMolecules {
  std::vector<fs::path> files;
  std::vector<float> targets;
  std::vector<int64_t> numbers;  // file numbers, from the file names
};

ListedMolecules read_qm7_table(const fs::path& folder) {
  const fs::path table = folder / qm7_table;
  const std::string text = read_file(table);
  TextLines lines(text, table.string());
  ListedMolecules listed;
  std::set<std::string> seen;
  while (lines.next()) {
    const std::string name(lines.word());
    const fs::path file = safe_join(folder / "xyz", name, table);
    const std::optional<int64_t> number = parse_integer(file.stem().string());
    if (!name.ends_with(".xyz") || !number) lines.fail_word("a file NUMBER.xyz", name);
    if (!seen.insert(name).second) lines.fail("every file once", name + " again");
    if (!path_exists(file)) lines.fail("the name of a file in xyz/", name + ", which is not there");
    listed.files.push_back(file);
    listed.numbers.push_back(*number);
    listed.targets.push_back(static_cast<float>(lines.number("an energy")));
  }
  if (listed.files.empty()) throw DataError(table.string(), "a line for every molecule", "none");
  return listed;
}

struct ParsedMolecule {
  XyzMolecule molecule;
  CovalentBonds bonds;
};

std::vector<ParsedMolecule> read_xyz_files(const std::vector<fs::path>& files) {
  std::vector<ParsedMolecule> out(files.size());
  parallel_items(static_cast<int64_t>(files.size()), at::get_num_threads(), [&](int64_t i) {
    const fs::path& file = files[static_cast<size_t>(i)];
    ParsedMolecule& parsed = out[static_cast<size_t>(i)];
    parsed.molecule = read_xyz_molecule(read_gz_file(file), file.string());
    parsed.bonds = covalent_bonds(parsed.molecule, file.string());
  });
  return out;
}

// Returns a warning if distances suggest another unit than ångström; empty if none do.
std::string unit_warning(const std::vector<ParsedMolecule>& molecules, const fs::path& source) {
  constexpr float min_stretch = 0.5F;  // no bond is as short
  int64_t close = 0, apart = 0;
  for (const auto& [molecule, bonds] : molecules) {
    const auto shortest = std::min_element(bonds.stretch.begin(), bonds.stretch.end());
    if (shortest != bonds.stretch.end()) close += *shortest < min_stretch ? 1 : 0;
    apart += bonds.stretch.empty() && molecule.elements.size() > 1 ? 1 : 0;
  }
  if (close + apart == 0) return "";
  std::string what = close > 0 ? "atoms are closer than half a bond" : "no two atoms are near enough for a bond";
  if (close > 0 && apart > 0) what += ", or none are bonded";
  if (molecules.size() > 1) {
    what += " in " + std::to_string(close + apart) + " of " + std::to_string(molecules.size()) + " molecules";
  }
  return source.string() + ": " + what + ": coordinates are taken in Angstrom";
}

// Packs the molecules of `origin`, which warnings name.
PackedItems pack_molecules(const std::vector<ParsedMolecule>& molecules, const fs::path& origin) {
  std::vector<int64_t> offsets = {0}, elements, source, target;
  std::vector<float> positions, stretch;
  for (const auto& [molecule, bonds] : molecules) {
    const int64_t first = offsets.back();
    for (const int64_t element : molecule.elements) elements.push_back(element - 1);
    positions.insert(positions.end(), molecule.positions.begin(), molecule.positions.end());
    for (const int64_t atom : bonds.source) source.push_back(first + atom);
    for (const int64_t atom : bonds.target) target.push_back(first + atom);
    stretch.insert(stretch.end(), bonds.stretch.begin(), bonds.stretch.end());
    offsets.push_back(first + static_cast<int64_t>(molecule.elements.size()));
  }
  PackedItems packed;
  CsrGraph& graph = packed.graphs.graph;
  graph = graph_from_edges(at::tensor(source, at::kLong), at::tensor(target, at::kLong), offsets.back(),
                           at::tensor(stretch).unsqueeze(1));
  packed.edge_values = std::exchange(graph.edge_attr, at::Tensor());
  packed.graphs.ptr = offsets_tensor(offsets);
  packed.node_categories = at::tensor(elements, at::kLong).unsqueeze(1);
  packed.coordinates = at::tensor(positions).view({-1, 3});
  packed.schema = {GraphTask::regression, {element_count + 1}, 0, {}, 1, true, {}};
  if (std::string warning = unit_warning(molecules, origin); !warning.empty()) {
    packed.warnings.push_back(std::move(warning));
  }
  return packed;
}

PackedItems read_qm7(const fs::path& folder) {
  const ListedMolecules listed = read_qm7_table(folder);
  PackedItems packed = pack_molecules(read_xyz_files(listed.files), folder);
  packed.schema.output_names = {"atomisation energy (kcal/mol)"};
  packed.target = at::tensor(listed.targets).unsqueeze(1);
  DatasetSplit& split = packed.split.emplace();
  for (size_t i = 0; i < listed.numbers.size(); ++i) {
    (listed.numbers[i] % 5 == 0 ? split.test : split.train).push_back(static_cast<int64_t>(i));
  }
  if (const size_t there = xyz_files(folder / "xyz", "").size(); there > listed.files.size()) {
    packed.warnings.push_back(std::to_string(there - listed.files.size()) + " files of " + (folder / "xyz").string() +
                              " are not listed in " + qm7_table + " and left out");
  }
  return packed;
}

// Parses "gdb NUMBER A B C mu … Cv", the second line of a file.
void read_qm9_comment(const XyzMolecule& molecule, const fs::path& file, std::vector<float>& out) {
  TextLines line(molecule.comment, file.string() + " (comment)");
  line.next();
  if (line.word() != "gdb") line.fail("\"gdb\", a number and 15 properties", "\"" + molecule.comment + "\"");
  line.integer("the number of a molecule");
  for (const std::string& name : qm9_targets)
    out.push_back(static_cast<float>(line.number(("the property " + name).c_str())));
  line.end_of_line("15 properties");
}

PackedItems read_qm9(const std::vector<fs::path>& files) {
  const std::vector<ParsedMolecule> molecules = read_xyz_files(files);
  std::vector<float> targets;
  for (size_t i = 0; i < files.size(); ++i) read_qm9_comment(molecules[i].molecule, files[i], targets);
  PackedItems packed = pack_molecules(molecules, files.front().parent_path());
  packed.schema.output_names = qm9_targets;
  packed.target = at::tensor(targets).view({-1, packed.schema.outputs()});
  return packed;
}

}  // namespace

bool is_xyz_molecules(const fs::path& folder) {
  return fs::exists(folder / qm7_table) || !xyz_files(folder, qm9_prefix).empty();
}

PackedItems read_xyz_molecules(const fs::path& folder, const GraphReadOptions& options) {
  const std::vector<fs::path> qm9 = xyz_files(folder, qm9_prefix);
  if (!fs::exists(folder / qm7_table) && qm9.empty()) {
    throw DataError(folder.string(), std::string(qm7_table) + " or files dsgdb9nsd_*.xyz", "neither");
  }
  std::vector<fs::path> files = qm9;
  if (qm9.empty()) {
    files = xyz_files(folder / "xyz", "");
    files.push_back(folder / qm7_table);
  }
  return cached_graphs(options, "xyz\n" + fs::absolute(folder).string(),
                       std::string(xyz_version) + "\n" + contents_key(files), [&] {
                         PackedItems packed = qm9.empty() ? read_qm7(folder) : read_qm9(qm9);
                         check_packed_items(packed, folder.string());
                         return packed;
                       });
}

PackedItems read_xyz_graph(const fs::path& file) {
  return pack_molecules(read_xyz_files({file}), file);
}

}  // namespace geosft
