// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/molecule_picture.h"

#include "data/graphs/molecule_features.h"

#ifdef GEOSFT_RDKIT
#include <GraphMol/MolDraw2D/MolDraw2DSVG.h>
#include <GraphMol/MolDraw2D/MolDraw2DUtils.h>

#include "data/graphs/rdkit_molecule.h"
#endif

namespace geosft {

#ifdef GEOSFT_RDKIT

std::string molecule_svg(const std::string& smiles, int width, int height) {
  const std::unique_ptr<RDKit::ROMol> molecule = rdkit_molecule(smiles);
  RDKit::MolDraw2DSVG drawer(width, height);
  RDKit::MolDraw2DUtils::prepareAndDrawMolecule(drawer, *molecule);
  drawer.finishDrawing();
  const std::string document = drawer.getDrawingText();
  return document.substr(document.find("<svg"));
}

#else

std::string molecule_svg(const std::string&, int, int) {
  throw_without_rdkit();
}

#endif

}  // namespace geosft
