// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "data/cache_folder.h"
#include "data/data_error.h"
#include "data/formats/compression.h"
#include "data/formats/elements.h"
#include "data/formats/text_lines.h"
#include "data/formats/xyz_molecule.h"
#include "data/graphs/graph_formats.h"
#include "data/graphs/table_labels.h"
#include "data/read_file.h"
#include "data/safe_join.h"
#include "data/seeds.h"
#include "geometry/packed.h"
#include "geometry/threads.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Increment whenever the result for the same files changes.
constexpr const char* xyz_version = "xyz 3";

constexpr const char* qm7_table = "hof_qm7.txt";
constexpr size_t qm7_molecules = 7101;
constexpr std::string_view qm9_prefix = "dsgdb9nsd_";
const std::vector<std::string> qm9_targets = {"A",  "B",    "C",  "mu", "alpha", "homo", "lumo", "gap",
                                              "r2", "zpve", "U0", "U",  "H",     "G",    "Cv"};

// Returns the files of molecules in a folder whose names begin so, sorted.
std::vector<fs::path> molecule_files(const fs::path& folder, std::string_view prefix = "") {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (has_molecule_ending(name) && !name.starts_with('.') && name.starts_with(prefix)) files.push_back(entry.path());
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
  for_each_file(static_cast<int64_t>(files.size()), [&](int64_t i) {
    const fs::path& file = files[static_cast<size_t>(i)];
    ParsedMolecule& parsed = out[static_cast<size_t>(i)];
    parsed.molecule = read_xyz_molecule(read_gz_file(file), file.string());
    parsed.bonds = covalent_bonds(parsed.molecule, file.string());
  });
  return out;
}

// A molecule of a file of one or several.
struct FileMolecule {
  XyzMolecule molecule;
  std::string file, name;  // the latter in results

  std::string place() const { return file + ":" + std::to_string(molecule.line); }
};

// Returns "mine.xyz:3" for a molecule of mine.xyz or mine.xyz.gz, and "mine.xyz" for one alone in it.
std::string molecule_name(const fs::path& file, size_t number, bool alone) {
  fs::path name = file.filename();
  if (lower_case(name.extension().string()) == ".gz") name.replace_extension();
  return alone ? name.string() : name.string() + ":" + std::to_string(number);
}

// Returns the molecules of the files, in order.
std::vector<FileMolecule> read_frames(const std::vector<fs::path>& files) {
  std::vector<std::vector<XyzMolecule>> frames(files.size());
  for_each_file(static_cast<int64_t>(files.size()), [&](int64_t i) {
    const fs::path& file = files[static_cast<size_t>(i)];
    frames[static_cast<size_t>(i)] = read_xyz_frames(read_gz_file(file), file.string());
  });
  std::vector<FileMolecule> out;
  for (size_t i = 0; i < files.size(); ++i) {
    for (size_t number = 0; number < frames[i].size(); ++number) {
      out.push_back({std::move(frames[i][number]), files[i].string(),
                     molecule_name(files[i], number, /*alone=*/frames[i].size() == 1)});
    }
  }
  return out;
}

std::vector<ParsedMolecule> with_bonds(std::vector<FileMolecule> molecules) {
  std::vector<ParsedMolecule> out(molecules.size());
  parallel_items(static_cast<int64_t>(molecules.size()), at::get_num_threads(), [&](int64_t i) {
    FileMolecule& one = molecules[static_cast<size_t>(i)];
    ParsedMolecule& parsed = out[static_cast<size_t>(i)];
    parsed.bonds = covalent_bonds(one.molecule, one.place());
    parsed.molecule = std::move(one.molecule);
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

std::vector<std::string> file_names(const std::vector<fs::path>& files) {
  std::vector<std::string> names;
  for (const fs::path& file : files) names.push_back(file.filename().string());
  return names;
}

// Returns the keys of the comments as columns, with a row for each molecule of a file or folder.
TextTable comment_table(const std::vector<FileMolecule>& molecules, const fs::path& source) {
  constexpr size_t max_keys = 100;  // every row has a field for each
  TextTable table;
  table.file = source.string();
  table.names_line = 2;
  const bool of_folder = fs::is_directory(source);
  std::map<std::string, size_t> columns;
  for (size_t row = 0; row < molecules.size(); ++row) {
    const XyzMolecule& molecule = molecules[row].molecule;
    table.lines.push_back(molecule.line + 1);
    if (of_folder) table.files.push_back(molecules[row].file);
    auto pairs = xyz_comment_pairs(molecule.comment);
    if (pairs.empty()) pairs.emplace_back("comment", molecule.comment);
    std::set<std::string> seen;
    for (auto& [key, value] : pairs) {
      if (key == "Properties") continue;
      if (!seen.insert(key).second) throw DataError(table.place(row), "every key once in a comment", key + " again");
      const auto [column, is_new] = columns.try_emplace(key, columns.size());
      if (is_new) {
        if (columns.size() > max_keys) {
          throw DataError(table.place(row), "at most " + std::to_string(max_keys) + " different keys in the comments",
                          "more");
        }
        table.names.push_back(key);
        table.columns.emplace_back(molecules.size());
      }
      table.columns[column->second][row] = std::move(value);
    }
  }
  return table;
}

PackedItems read_labelled_molecules(const fs::path& source, const std::vector<fs::path>& files,
                                    const GraphReadOptions& options) {
  std::vector<FileMolecule> molecules = read_frames(files);
  const TextTable table = comment_table(molecules, source);
  const TableLabels labels = table_labels(table, std::nullopt, options);
  if (labels.rows.empty()) throw DataError(source.string(), "a molecule with a label", "none");
  std::vector<FileMolecule> kept;
  std::vector<std::string> names;
  for (const int64_t row : labels.rows) {
    kept.push_back(std::move(molecules[static_cast<size_t>(row)]));
    names.push_back(kept.back().name);
  }
  PackedItems packed = pack_molecules(with_bonds(std::move(kept)), source);
  packed.schema.task = labels.task;
  packed.schema.output_names = labels.names;
  packed.schema.label_values = labels.values;
  packed.target = labels.target;
  packed.names = std::move(names);
  packed.warnings.insert(packed.warnings.begin(), source.string() + ": " + labels.note);
  packed.split = table_split(table, labels.rows, options.split_folder, packed.warnings);
  check_packed_items(packed, source.string());
  return packed;
}

PackedItems read_qm7(const fs::path& folder) {
  const ListedMolecules listed = read_qm7_table(folder);
  PackedItems packed = pack_molecules(read_xyz_files(listed.files), folder);
  const bool published = listed.files.size() == qm7_molecules;  // others have energies in a unit of their own
  packed.schema.output_names = {published ? "atomisation energy (kcal/mol)" : "energy"};
  packed.target = at::tensor(listed.targets).unsqueeze(1);
  packed.names = file_names(listed.files);
  DatasetSplit& split = packed.split.emplace();
  for (size_t i = 0; i < listed.numbers.size(); ++i) {
    (listed.numbers[i] % 5 == 0 ? split.test : split.train).push_back(static_cast<int64_t>(i));
  }
  if (const size_t there = molecule_files(folder / "xyz").size(); there > listed.files.size()) {
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

// Returns the columns of QM9's targets that are named, in this order; all without names.
std::vector<int64_t> chosen_targets(const fs::path& folder, const std::vector<std::string>& names) {
  TextTable table;
  table.names = qm9_targets;
  std::vector<int64_t> columns;
  for (const std::string& name : names.empty() ? qm9_targets : names) {
    const std::optional<size_t> column = find_column(table, name);
    if (!column) {
      std::string known;
      for (const std::string& each : qm9_targets) known += (known.empty() ? "" : ", ") + each;
      throw DataError(folder.string(), "in --label-columns targets of QM9, " + known, "\"" + name + "\"");
    }
    if (std::find(columns.begin(), columns.end(), static_cast<int64_t>(*column)) != columns.end()) {
      throw DataError("--label-columns", "each column once", "\"" + name + "\" again");
    }
    columns.push_back(static_cast<int64_t>(*column));
  }
  return columns;
}

PackedItems read_qm9(const std::vector<fs::path>& files, const std::vector<std::string>& names) {
  const std::vector<int64_t> columns = chosen_targets(files.front().parent_path(), names);
  const std::vector<ParsedMolecule> molecules = read_xyz_files(files);
  std::vector<float> targets;
  for (size_t i = 0; i < files.size(); ++i) read_qm9_comment(molecules[i].molecule, files[i], targets);
  PackedItems packed = pack_molecules(molecules, files.front().parent_path());
  for (const int64_t column : columns) {
    packed.schema.output_names.push_back(qm9_targets[static_cast<size_t>(column)]);
  }
  packed.target = at::tensor(targets)
                      .view({-1, static_cast<int64_t>(qm9_targets.size())})
                      .index_select(1, at::tensor(columns, at::kLong));
  packed.names = file_names(files);
  return packed;
}

}  // namespace

PackedItems read_xyz_graphs(const fs::path& file) {
  std::vector<FileMolecule> molecules = read_frames({file});
  std::vector<std::string> names;
  for (const FileMolecule& one : molecules) names.push_back(one.name);
  PackedItems packed = pack_molecules(with_bonds(std::move(molecules)), file);
  packed.names = std::move(names);
  return packed;
}

bool is_xyz_folder(const fs::path& folder) {
  return fs::is_directory(folder) && !is_xyz_molecules(folder) && !molecule_files(folder).empty();
}

PackedItems read_xyz_dataset(const fs::path& source, const GraphReadOptions& options) {
  const std::vector<fs::path> files = fs::is_directory(source) ? molecule_files(source) : std::vector{source};
  const std::string key = std::string(xyz_version) + "\n" + contents_key(files);
  return cached_with_labels(options, "xyz\n" + fs::absolute(source).string(), key,
                            [&] { return read_labelled_molecules(source, files, options); });
}

bool is_qm9(const fs::path& folder) {
  return !molecule_files(folder, qm9_prefix).empty();
}

bool is_xyz_molecules(const fs::path& folder) {
  return fs::exists(folder / qm7_table) || is_qm9(folder);
}

PackedItems read_xyz_molecules(const fs::path& folder, const GraphReadOptions& options) {
  const bool qm9 = is_qm9(folder);
  if (!qm9 && !fs::exists(folder / qm7_table)) {
    throw DataError(folder.string(), std::string(qm7_table) + " or files dsgdb9nsd_*.xyz", "neither");
  }
  std::vector<fs::path> files = molecule_files(qm9 ? folder : folder / "xyz", qm9 ? qm9_prefix : "");
  std::string id = "xyz\n" + fs::absolute(folder).string();
  if (qm9) {
    for (const std::string& name : options.label_columns) id += "\n" + name;
  } else {
    files.push_back(folder / qm7_table);
  }
  PackedItems packed =
      cached_graphs(options, id, std::string(xyz_version) + "\n" + id + "\n" + contents_key(files), [&] {
        PackedItems made = qm9 ? read_qm9(files, options.label_columns) : read_qm7(folder);
        check_packed_items(made, folder.string());
        return made;
      });
  const bool is_one_target =
      options.known && options.known->task == GraphTask::regression && options.known->outputs() == 1;
  if (!qm9 && is_one_target) packed.schema.output_names = options.known->output_names;
  return packed;
}

}  // namespace geosft
