// SPDX-License-Identifier: Apache-2.0
#include "data/formats/xyz_molecule.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "data/data_error.h"
#include "data/formats/elements.h"
#include "data/formats/text_lines.h"
#include "data/read_file.h"

namespace geosft {
namespace {

// Places of the words of an atom's line.
struct AtomColumns {
  int64_t element = 0, position = 1;  // of the first of three coordinates

  int64_t count() const { return std::max(element + 1, position + 3); }
};

// Returns the columns that the value of Properties in the current line, "species:S:1:pos:R:3:forces:R:3", says.
AtomColumns columns_of_properties(const TextLines& lines, std::string_view properties) {
  constexpr int64_t max_width = 1000;
  std::optional<int64_t> species, number, position;
  int64_t column = 0;
  for (std::string_view rest = properties; !rest.empty();) {
    const auto field = [&rest] {
      const size_t end = std::min(rest.find(':'), rest.size());
      const std::string_view text = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      return text;
    };
    const std::string_view name = field();
    field();  // the type
    const std::optional<int64_t> width = parse_integer(field());
    if (!width || *width < 1 || *width > max_width) {
      lines.fail_word("Properties as NAME:TYPE:COLUMNS, with colons between", properties);
    }
    if (name == "species" && *width == 1) species = column;
    if (name == "Z" && *width == 1) number = column;
    if (name == "pos" && *width == 3) position = column;
    column += *width;
  }
  if (!species) species = number;
  if (!species || !position) lines.fail_word("Properties with species:S:1 or Z:I:1, and with pos:R:3", properties);
  return {*species, *position};
}

AtomColumns atom_columns(const TextLines& lines, const std::string& comment) {
  for (const auto& [key, value] : xyz_comment_pairs(comment)) {
    if (key == "Properties") return columns_of_properties(lines, value);
  }
  return {};
}

float to_coordinate(const TextLines& lines, std::string word) {
  if (const size_t power = word.find("*^"); power != std::string::npos) word.replace(power, 2, "e");
  const auto value = static_cast<float>(lines.to_number(word, "a coordinate"));
  if (!std::isfinite(value)) lines.fail_word("a coordinate in the range of float32", word);
  return value;
}

void read_atom(TextLines& lines, const AtomColumns& columns, XyzMolecule& molecule) {
  for (int64_t column = 0; column < columns.count(); ++column) {
    const std::string_view word = lines.word();
    if (column == columns.element) {
      const std::optional<int> element = atomic_number(word);
      if (!element) lines.fail_word("the symbol of an element", word);
      molecule.elements.push_back(*element);
    } else if (column >= columns.position && column < columns.position + 3) {
      molecule.positions.push_back(to_coordinate(lines, std::string(word)));
    } else if (word.empty()) {
      lines.fail_word(std::to_string(columns.count()) + " columns of an atom, as Properties says", word);
    }
  }
}

// Reads a molecule that begins in the current line. `first` says what this line may be.
XyzMolecule read_frame(TextLines& lines, const std::string& file, const std::string& first) {
  XyzMolecule molecule;
  molecule.line = lines.line_number();
  const int64_t count = lines.integer(first.c_str());
  lines.end_of_line("the number of atoms");
  if (count < 1) lines.fail("at least one atom", std::to_string(count));
  lines.next_raw();
  molecule.comment = lines.rest();
  const AtomColumns columns = atom_columns(lines, molecule.comment);
  for (int64_t i = 0; i < count; ++i) {
    if (!lines.next()) throw DataError(file, std::to_string(count) + " atoms", std::to_string(i));
    read_atom(lines, columns, molecule);
  }
  return molecule;
}

// Removes the text before the next blank or "=", or a text between quotes, and returns it without these.
std::string take_text(std::string_view& rest, bool is_key) {
  std::string text;
  size_t at = 0;
  if (const char quote = rest.empty() ? ' ' : rest.front(); quote == '"' || quote == '\'') {
    for (at = 1; at < rest.size() && rest[at] != quote; ++at) {
      if (rest[at] == '\\' && at + 1 < rest.size()) ++at;
      text += rest[at];
    }
    rest.remove_prefix(std::min(at + 1, rest.size()));
    return text;
  }
  for (int64_t depth = 0; at < rest.size(); ++at) {
    const char letter = rest[at];
    if (depth == 0 && (is_blank(letter) || (is_key && letter == '='))) break;
    if (is_key) continue;
    if (letter == '[' || letter == '{') ++depth;
    if ((letter == ']' || letter == '}') && depth > 0) --depth;
  }
  text = rest.substr(0, at);
  rest.remove_prefix(at);
  return text;
}

}  // namespace

std::vector<XyzMolecule> read_xyz_frames(std::string_view text, const std::string& file) {
  TextLines lines(text, file);
  lines.next_raw();
  std::vector<XyzMolecule> molecules = {read_frame(lines, file, "the number of atoms")};
  while (!molecules.front().comment.starts_with("gdb") && lines.next()) {
    const std::string first = "the end of the file after " + std::to_string(molecules.back().elements.size()) +
                              " atoms, or the number of atoms of another molecule";
    molecules.push_back(read_frame(lines, file, first));
  }
  return molecules;
}

XyzMolecule read_xyz_molecule(std::string_view text, const std::string& file) {
  std::vector<XyzMolecule> molecules = read_xyz_frames(text, file);
  if (molecules.size() > 1) {
    throw DataError(file + ":" + std::to_string(molecules[1].line), "one molecule", std::to_string(molecules.size()));
  }
  return std::move(molecules.front());
}

std::vector<std::pair<std::string, std::string>> xyz_comment_pairs(std::string_view comment) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::string_view rest = trimmed(comment); !rest.empty(); rest = trimmed(rest)) {
    const std::string key(trimmed(take_text(rest, /*is_key=*/true)));
    rest = trimmed(rest);
    if (!rest.starts_with('=')) continue;
    rest = trimmed(rest.substr(1));
    const bool quoted = rest.starts_with('"') || rest.starts_with('\'');
    std::string value = take_text(rest, /*is_key=*/false);
    if (!quoted && value.ends_with(',')) value.pop_back();
    if (!key.empty()) pairs.emplace_back(key, std::move(value));
  }
  return pairs;
}

CovalentBonds covalent_bonds(const XyzMolecule& molecule, const std::string& file) {
  constexpr double margin = 0.3;
  // Limits far above any molecule: all pairs of atoms are tested, and coincident atoms are all bonded.
  constexpr size_t max_atoms = 1 << 14, max_bonds = 64;
  const size_t atoms = molecule.elements.size();
  if (atoms > max_atoms) {
    throw DataError(file, "at most " + std::to_string(max_atoms) + " atoms", std::to_string(atoms));
  }
  std::vector<double> radius(atoms);
  for (size_t i = 0; i < atoms; ++i) {
    const std::optional<double> known = covalent_radius(static_cast<int>(molecule.elements[i]));
    if (!known) {
      throw DataError(file, "elements up to 96, whose radius is known", std::to_string(molecule.elements[i]));
    }
    radius[i] = *known;
  }
  CovalentBonds bonds;
  const float* x = molecule.positions.data();
  for (size_t i = 0; i < atoms; ++i) {
    for (size_t j = i + 1; j < atoms; ++j) {
      const double sum = radius[i] + radius[j],
                   length = std::hypot(double{x[3 * i]} - x[3 * j], double{x[3 * i + 1]} - x[3 * j + 1],
                                       double{x[3 * i + 2]} - x[3 * j + 2]);
      if (length > sum + margin) continue;
      bonds.source.insert(bonds.source.end(), {static_cast<int64_t>(i), static_cast<int64_t>(j)});
      bonds.target.insert(bonds.target.end(), {static_cast<int64_t>(j), static_cast<int64_t>(i)});
      bonds.stretch.insert(bonds.stretch.end(), 2, static_cast<float>(length / sum));
      if (bonds.source.size() > max_bonds * atoms) {
        throw DataError(file, "at most " + std::to_string(max_bonds / 2) + " bonds an atom", "more");
      }
    }
  }
  return bonds;
}

}  // namespace geosft
