// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/molecule_depiction.h"

#include "data/graphs/molecule_features.h"

#ifdef GEOSFT_RDKIT
#include <GraphMol/Depictor/RDDepictor.h>

#include "data/graphs/rdkit_molecule.h"
#endif

namespace geosft {

#ifdef GEOSFT_RDKIT

at::Tensor molecule_depiction(const std::string& smiles) {
  const std::unique_ptr<RDKit::ROMol> molecule = rdkit_molecule(smiles);
  RDDepict::compute2DCoords(*molecule, nullptr, /*canonOrient=*/true);
  const RDKit::Conformer& drawn = molecule->getConformer();
  const auto atoms = static_cast<int64_t>(molecule->getNumAtoms());
  at::Tensor places = at::empty({atoms, 2}, at::kDouble);
  double* out = places.mutable_data_ptr<double>();
  for (int64_t atom = 0; atom < atoms; ++atom, out += 2) {
    const RDGeom::Point3D& place = drawn.getAtomPos(static_cast<unsigned>(atom));
    out[0] = place.x;
    out[1] = place.y;
  }
  return places;
}

#else

at::Tensor molecule_depiction(const std::string&) {
  throw_without_rdkit();
}

#endif

}  // namespace geosft
