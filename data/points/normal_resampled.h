// SPDX-License-Identifier: Apache-2.0
// Lists the shapes of ModelNet's normal_resampled text format.
#pragma once

#include "data/points/file_dataset.h"

namespace geosft {

// Returns whether `source` is one of the lists modelnet<N>_{train,test,shape_names}.txt, or a folder that holds
// modelnet40_shape_names.txt or modelnet10_shape_names.txt.
bool is_normal_resampled(const std::filesystem::path& source);

// Lists the shapes CLASS_NUMBER of modelnet40_train.txt or modelnet40_test.txt, each in CLASS/CLASS_NUMBER.txt
// ("x,y,z,nx,ny,nz" lines), with classes from modelnet40_shape_names.txt. A ModelNet10 list as `source` selects
// ModelNet10; of a folder with both ModelNet40 is taken, with a warning. Classes whose folder is absent are left out
// with a warning. Any other absent shape throws DataError or, with `allow_missing`, adds a warning.
DatasetListing list_normal_resampled(const std::filesystem::path& source, Split split, bool allow_missing);

}  // namespace geosft
