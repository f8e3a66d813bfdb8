// SPDX-License-Identifier: Apache-2.0
// Reads clouds and meshes from NumPy arrays: NPY and NPZ.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"

namespace geosft {

// Reads an array [N, C] of numbers (float16, 32 or 64, or integers, of either byte order, in C or Fortran order): one
// point per row, with the columns of data/formats/point_columns.h. Leading dimensions of size 1 are dropped, and [3, N]
// and [6, N] are transposed where N is above 64. `columns` names the columns, such as "x,y,z,r,g,b" (option --columns).
// Throws DataError for other arrays, such as structured ones and objects.
FileShape read_npy(std::string_view bytes, const std::string& file, const std::string& columns = {});

// Reads the points of an archive of arrays: the first of points, pos, xyz, coords, vertices, verts, pc, pcd, cloud,
// point_cloud, data and arr_0, or its only array. Arrays normals or normal [N, 3], and faces or triangles [F, 3], are
// read with it; others are ignored. Throws DataError as above and if no array is known by name.
FileShape read_npz(std::string_view bytes, const std::string& file, const std::string& columns = {});

}  // namespace geosft
