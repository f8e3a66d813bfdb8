// SPDX-License-Identifier: Apache-2.0
// Lists the shape files of a folder tree with one folder per class.
#pragma once

#include "data/points/file_dataset.h"

namespace geosft {

// Layouts: train/CLASS/FILE and test/CLASS/FILE; CLASS/train/FILE and CLASS/test/FILE (ModelNet's own); CLASS/FILE,
// where every `test_every`-th file of a class by sorted name is test and the others train (0: all are in both). A class
// or split folder may also hold a folder per shape, with model*.obj in it or in its folder models/, as ShapeNetCore
// does. Split folders are recognised in any case. Of files that differ in the extension only, one is taken: off, obj,
// ply, stl, pcd, xyz or txt, in this order, and a warning says so. Classes are the folders that hold a shape file in
// any split, sorted. Hidden files and files with other extensions are ignored. The warnings report everything left out
// except hidden files: loose shape files, folders that are not a class, classes without a shape in this split, and in
// one line the numbers of shape files and links nested below a class folder and of files with other extensions. Throws
// DataError if there is no shape file at all or in this split, and if an entry named like a shape or folder cannot be
// read, e.g. a dangling link.
DatasetListing list_folder_tree(const std::filesystem::path& root, Split split, int64_t test_every);

}  // namespace geosft
