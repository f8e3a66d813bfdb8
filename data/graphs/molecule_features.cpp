// SPDX-License-Identifier: Apache-2.0
// Computes molecule graphs with RDKit.
#include "data/graphs/molecule_features.h"

#include <stdexcept>

#ifdef GEOSFT_RDKIT
#include <GraphMol/SmilesParse/SmilesParse.h>
#include <GraphMol/new_canon.h>
#include <RDGeneral/versions.h>

#include <algorithm>
#include <cstdlib>
#include <list>
#include <set>
#include <utility>

#include "data/graphs/rdkit_molecule.h"
#endif

namespace geosft {

namespace {

// Returns a text up to the first blank: what follows is a name.
std::string_view without_name(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t"));
}

}  // namespace

int64_t written_atoms(std::string_view smiles) {
  int64_t atoms = 0;
  bool bracket = false;
  for (const char c : without_name(smiles)) {
    if (c == '[') ++atoms;
    if (c == '[' || c == ']') bracket = c == '[';
    // Br and Cl count by their first letters.
    if (!bracket && std::string_view("BCNOPSFIbcnops*").find(c) != std::string_view::npos) ++atoms;
  }
  return atoms;
}

std::string smiles_error(const std::string& smiles) {
  try {
    molecule_from_smiles(smiles, ChiralTags::written);
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

void throw_without_rdkit() {
  throw std::runtime_error(
      "this build of geosft cannot read SMILES, it was configured without RDKit: install the Debian packages "
      "librdkit-dev and libboost-dev, configure and build again");
}

#ifdef GEOSFT_RDKIT
namespace {

// Returns `value` counted from `first`, or `count` if it is out of range.
uint8_t bounded_place(int value, int first, int count) {
  return static_cast<uint8_t>(value < first || value >= first + count ? count : value - first);
}

// Returns the place of `kind` among `kinds`, or their number for another one.
template <class Kind, size_t count>
uint8_t place_among(const Kind (&kinds)[count], Kind kind) {
  return static_cast<uint8_t>(std::find(std::begin(kinds), std::end(kinds), kind) - std::begin(kinds));
}

uint8_t hybridization(const RDKit::Atom& atom) {
  using Atom = RDKit::Atom;
  constexpr Atom::HybridizationType kinds[] = {Atom::SP, Atom::SP2, Atom::SP3, Atom::SP3D, Atom::SP3D2};
  return place_among(kinds, atom.getHybridization());
}

uint8_t bond_type(const RDKit::Bond& bond) {
  using Bond = RDKit::Bond;
  constexpr Bond::BondType kinds[] = {Bond::SINGLE, Bond::DOUBLE, Bond::TRIPLE, Bond::AROMATIC};
  return place_among(kinds, bond.getBondType());
}

uint8_t bond_stereo(const RDKit::Bond& bond) {
  using Bond = RDKit::Bond;
  constexpr Bond::BondStereo kinds[] = {Bond::STEREONONE, Bond::STEREOZ,     Bond::STEREOE,
                                        Bond::STEREOCIS,  Bond::STEREOTRANS, Bond::STEREOANY};
  const uint8_t place = place_among(kinds, bond.getStereo());
  if (place == std::size(kinds)) throw std::invalid_argument("a stereo bond of a kind that has no feature");
  return place;
}

bool is_chiral(const RDKit::Atom& atom) {
  return atom.getChiralTag() == RDKit::Atom::CHI_TETRAHEDRAL_CW ||
         atom.getChiralTag() == RDKit::Atom::CHI_TETRAHEDRAL_CCW;
}

// Returns the tag of a chiral atom for neighbours in the order of their ranks.
RDKit::Atom::ChiralType ranked_tag(const RDKit::Atom& atom, const std::vector<unsigned>& ranks) {
  const RDKit::ROMol& mol = atom.getOwningMol();
  std::vector<std::pair<unsigned, int>> neighbours;
  for (const RDKit::Bond* bond : mol.atomBonds(&atom)) {
    neighbours.emplace_back(ranks[bond->getOtherAtomIdx(atom.getIdx())], static_cast<int>(bond->getIdx()));
  }
  std::sort(neighbours.begin(), neighbours.end());
  std::list<int> order;
  for (const auto& [rank, bond] : neighbours) order.push_back(bond);
  if (atom.getPerturbationOrder(order) % 2 == 0) return atom.getChiralTag();
  return atom.getChiralTag() == RDKit::Atom::CHI_TETRAHEDRAL_CW ? RDKit::Atom::CHI_TETRAHEDRAL_CCW
                                                                : RDKit::Atom::CHI_TETRAHEDRAL_CW;
}

// Changes the tags of all chiral atoms to those of canonical ranks.
void rank_chiral_tags(RDKit::ROMol& mol) {
  std::vector<RDKit::Atom*> chiral;
  for (RDKit::Atom* atom : mol.atoms()) {
    if (is_chiral(*atom)) chiral.push_back(atom);
  }
  if (chiral.empty()) return;
  std::vector<unsigned> ranks;
  RDKit::Canon::rankMolAtoms(mol, ranks);
  for (RDKit::Atom* atom : chiral) atom->setChiralTag(ranked_tag(*atom, ranks));
}

void add_atom(const RDKit::ROMol& mol, const RDKit::Atom& atom, std::vector<uint8_t>& out) {
  const bool in_ring = mol.getRingInfo()->numAtomRings(atom.getIdx()) != 0;
  out.insert(
      out.end(),
      {bounded_place(atom.getAtomicNum(), 1, 118), bounded_place(static_cast<int>(atom.getChiralTag()), 0, 4),
       bounded_place(static_cast<int>(atom.getTotalDegree()), 0, 11), bounded_place(atom.getFormalCharge(), -5, 11),
       bounded_place(static_cast<int>(atom.getTotalNumHs()), 0, 9),
       bounded_place(static_cast<int>(atom.getNumRadicalElectrons()), 0, 5), hybridization(atom),
       static_cast<uint8_t>(atom.getIsAromatic()), static_cast<uint8_t>(in_ring)});
}

void add_bond(const RDKit::Bond& bond, Molecule& out) {
  const auto begin = static_cast<int32_t>(bond.getBeginAtomIdx()), end = static_cast<int32_t>(bond.getEndAtomIdx());
  const uint8_t features[] = {bond_type(bond), bond_stereo(bond), static_cast<uint8_t>(bond.getIsConjugated())};
  for (const bool forward : {true, false}) {
    out.source.push_back(forward ? begin : end);
    out.target.push_back(forward ? end : begin);
    out.bonds.insert(out.bonds.end(), std::begin(features), std::end(features));
  }
}

// Returns the number of a ring bond "%12", "%(123)" or "1" at the beginning of a text, and moves on behind it; empty
// for a % without one.
std::string ring_number(std::string_view& text) {
  size_t begin = 0, size = 1;
  if (text.starts_with("%(")) {
    begin = 2;
    size = std::min(text.find(')'), text.size()) - begin;
  } else if (text.starts_with('%')) {
    begin = 1;
    size = 2;
  }
  const std::string number(text.substr(begin, size));
  text.remove_prefix(std::min(text.size(), begin + number.size() + (begin == 2 ? 1 : 0)));
  const bool digits = std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && (begin != 1 || number.size() == 2) ? number : "";
}

// Returns what is open in a SMILES that RDKit refuses: a bracket, a parenthesis or a ring; empty if nothing is.
std::string open_part(std::string_view smiles) {
  std::set<int64_t> rings;
  int64_t depth = 0;
  while (!smiles.empty()) {
    const char c = smiles.front();
    if (c == '%' || (c >= '0' && c <= '9')) {
      const std::string digits = ring_number(smiles);
      if (digits.empty()) return "a % without the number of a ring";
      const int64_t ring = std::atoll(digits.c_str());
      if (!rings.insert(ring).second) rings.erase(ring);
      continue;
    }
    if (c == '[') {
      const size_t end = smiles.find(']');
      if (end == std::string_view::npos) return "a bracket [ is not closed";
      smiles.remove_prefix(end);
    } else if (c == ']') {
      return "a bracket ] closes none";
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && --depth < 0) {
      return "a parenthesis ) closes none";
    }
    smiles.remove_prefix(1);
  }
  if (depth > 0) return "a parenthesis ( is not closed";
  return rings.empty() ? "" : "ring " + std::to_string(*rings.begin()) + " is not closed";
}

std::unique_ptr<RDKit::ROMol> parse_smiles(const std::string& smiles) {
  try {
    std::unique_ptr<RDKit::ROMol> mol(RDKit::SmilesToMol(smiles));
    if (mol) return mol;
  } catch (const std::exception& error) {
    const std::string reason = error.what();
    throw std::invalid_argument(reason.substr(0, reason.find('\n')));
  }
  const std::string open = open_part(without_name(smiles));
  throw std::invalid_argument(open.empty() ? "not the grammar of SMILES" : open);
}

}  // namespace

std::string molecule_library() {
  return std::string("RDKit ") + RDKit::rdkitVersion;
}

std::unique_ptr<RDKit::ROMol> rdkit_molecule(const std::string& smiles) {
  // Refuses other bytes: RDKit would silently stop at them.
  const std::string_view text = without_name(smiles);
  if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) > 127; })) {
    throw std::invalid_argument("a letter that is not ASCII, such as a long dash or a special blank");
  }
  if (const int64_t atoms = written_atoms(smiles); atoms > max_smiles_atoms) {
    throw std::invalid_argument(std::to_string(atoms) + " atoms, more than " + std::to_string(max_smiles_atoms));
  }
  std::unique_ptr<RDKit::ROMol> mol = parse_smiles(smiles);
  if (mol->getNumAtoms() == 0) throw std::invalid_argument("no atoms");
  return mol;
}

Molecule molecule_from_smiles(const std::string& smiles, ChiralTags tags) {
  const std::unique_ptr<RDKit::ROMol> mol = rdkit_molecule(smiles);
  if (tags == ChiralTags::canonical) rank_chiral_tags(*mol);
  Molecule out;
  for (const RDKit::Atom* atom : mol->atoms()) add_atom(*mol, *atom, out.atoms);
  for (const RDKit::Bond* bond : mol->bonds()) add_bond(*bond, out);
  return out;
}

#else

std::string molecule_library() {
  return {};
}

Molecule molecule_from_smiles(const std::string&, ChiralTags) {
  throw_without_rdkit();
}

#endif

}  // namespace geosft
