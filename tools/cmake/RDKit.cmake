# SPDX-License-Identifier: Apache-2.0
# Finds RDKit, which a few source files use for SMILES, scaffolds, descriptors, fingerprints and drawings. A build without it works, but reports an error for SMILES.
option(GEOSFT_RDKIT "read SMILES with RDKit where it is installed (Debian: librdkit-dev, libboost-dev)" ON)
set(_libraries MolDraw2D Depictor Descriptors Fingerprints ChemTransforms SmilesParse GraphMol DataStructs RDGeneral)
if(GEOSFT_RDKIT)
  find_path(GEOSFT_RDKIT_INCLUDE GraphMol/SmilesParse/SmilesParse.h PATH_SUFFIXES rdkit)
  find_path(GEOSFT_BOOST_INCLUDE boost/graph/adjacency_list.hpp)
  foreach(_name IN LISTS _libraries)
    find_library(GEOSFT_RDKIT_${_name} RDKit${_name})
    list(APPEND _files "${GEOSFT_RDKIT_${_name}}")
  endforeach()
endif()
if(GEOSFT_RDKIT AND GEOSFT_RDKIT_INCLUDE AND GEOSFT_BOOST_INCLUDE AND NOT "${_files}" MATCHES "NOTFOUND")
  message(STATUS "RDKit: ${GEOSFT_RDKIT_INCLUDE}")
  add_library(geosft_rdkit INTERFACE IMPORTED GLOBAL)
  set_target_properties(geosft_rdkit PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${GEOSFT_RDKIT_INCLUDE};${GEOSFT_BOOST_INCLUDE}"
    INTERFACE_LINK_LIBRARIES "${_files}")
else()
  message(STATUS "RDKit: not used, so SMILES cannot be read (Debian: librdkit-dev, libboost-dev)")
endif()
