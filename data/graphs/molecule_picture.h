// SPDX-License-Identifier: Apache-2.0
// Draws the structural formula of a molecule as SVG, with RDKit.
#pragma once

#include <string>

namespace geosft {

// Returns an SVG document of this size in pixels, an element without an XML declaration. The letters of atoms are
// outlines, so the picture needs no font. The same arguments always give the same text. Throws as molecule_from_smiles
// does.
std::string molecule_svg(const std::string& smiles, int width, int height);

}  // namespace geosft
