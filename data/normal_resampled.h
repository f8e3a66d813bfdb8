// SPDX-License-Identifier: Apache-2.0
// ModelNet's normal_resampled text form.
#pragma once

#include "data/file_dataset.h"

namespace geosft {

// Whether `source` is one of the lists modelnet<N>_{train,test,shape_names}.txt, or a folder that holds
// modelnet40_shape_names.txt or modelnet10_shape_names.txt.
bool is_normal_resampled(const std::filesystem::path& source);

// The shapes CLASS_NUMBER of modelnet40_train.txt or modelnet40_test.txt, each in CLASS/CLASS_NUMBER.txt
// ("x,y,z,nx,ny,nz" lines), classes from modelnet40_shape_names.txt. A list of ModelNet10 as `source` selects that one.
// Classes whose whole folder is absent are left out, with a warning. Any other absent shape is a DataError, or with
// `allow_missing` a warning.
DatasetListing list_normal_resampled(const std::filesystem::path& source, Split split, bool allow_missing);

}  // namespace geosft
