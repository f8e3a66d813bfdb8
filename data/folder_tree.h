// SPDX-License-Identifier: Apache-2.0
// Shapes in a folder a class.
#pragma once

#include "data/file_dataset.h"

namespace geosft {

// Layouts: train/CLASS/FILE and test/CLASS/FILE; CLASS/train/FILE and CLASS/test/FILE (ModelNet's own); CLASS/FILE,
// where every `test_every`-th file of a class by sorted name is test and the others train (0: all are in both). Classes
// are the folders that hold a shape file in any split, sorted. Hidden files and files with another extension are no
// shapes. Whatever is left out is in the warnings but hidden files: loose shape files, folders that are no class, and
// in one line the numbers of shape files and links below a class's own folder and of files with other extensions.
// Throws DataError when there is no shape file, or none in this split, and for what has the name of a shape or a folder
// and cannot be read: a link to nothing, say.
DatasetListing list_folder_tree(const std::filesystem::path& root, Split split, int64_t test_every);

}  // namespace geosft
