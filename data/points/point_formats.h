// SPDX-License-Identifier: Apache-2.0
// Lists or opens the datasets of clouds and meshes of each format.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/points/array_dataset.h"
#include "data/points/file_dataset.h"
#include "data/points/part_dataset.h"
#include "data/points/point_dataset.h"

namespace geosft {

// Lists the shape files of a folder tree with one folder per class.

// Lists a dataset by its folders. Layouts: train/CLASS/FILE and test/CLASS/FILE; CLASS/train/FILE and CLASS/test/FILE
// (ModelNet's own); CLASS/FILE, where one in `test_every` files of a class is test and the others train (0: all are in
// both): those whose names, without the extension, have the smallest hashes, so that a file that is added moves at most
// one other; or, with SplitOrder::name, every so many-th by sorted name. A class or split folder may also hold a folder
// per shape, with model*.obj in it or in its folder models/, as ShapeNetCore does. Split folders are recognised in any
// case. Of files that differ in the extension only, one is taken: off, obj, ply, stl, glb, gltf, pcd, xyz, txt or
// another one, in this order and packed ones (.gz) last, and a warning says so. Classes are the folders that hold a
// shape file in any split, sorted, but those whose names begin with an underscore. Hidden files and files with other
// extensions are ignored. The warnings report everything left out except hidden files: loose shape files, folders that
// are not a class, classes without a shape in this split, and in one line the numbers of shape files and links nested
// below a class folder and of files with other extensions. Throws DataError if there is no shape file at all or in this
// split, and if an entry named like a shape or folder cannot be read, e.g. a dangling link.
DatasetListing list_folder_tree(const std::filesystem::path& root, Split split, int64_t test_every,
                                SplitOrder split_order = SplitOrder::hash);

// Lists the clouds that can have labels (can_hold_labels) in such a tree, but neither texts without a point nor
// parts.txt. Without train and test folders each fourth file of a class, by sorted name, is test. Without a class
// folder, files in the root, or in its folders train/ and test/, are one class, which is named after the root. Throws
// DataError likewise, and for two files that differ in the extension only.
DatasetListing list_labelled_tree(const std::filesystem::path& root, Split split);
// Says what a folder has in place of such clouds: "none of these", or files where none are looked for.
std::string not_labelled_tree_text(const std::filesystem::path& root);
// Returns whether there is a file of this split, by the same rules. Throws DataError likewise.
bool labelled_tree_has_split(const std::filesystem::path& root, Split split);

// Lists the default dataset: 429 models of Debian's sweethome3d-furniture, with this project's class and split labels.

// Lists 17 classes with 301 train and 128 test models (data/points/furniture_labels.csv, compiled into the library).
// `folder` is where the package installs its *.sh3f files. Throws DataError if one of them is missing.
DatasetListing list_furniture(Split split, const std::filesystem::path& folder = "/usr/share/sweethome3d/furniture");

// Lists the shapes of ModelNet's normal_resampled text format.

// Returns whether `source` is one of the lists modelnet<N>_{train,test,shape_names}.txt, or a folder that holds
// modelnet40_shape_names.txt or modelnet10_shape_names.txt.
bool is_normal_resampled(const std::filesystem::path& source);

// Lists the shapes CLASS_NUMBER of modelnet40_train.txt or modelnet40_test.txt, each in CLASS/CLASS_NUMBER.txt
// ("x,y,z,nx,ny,nz" lines), with classes from modelnet40_shape_names.txt. A ModelNet10 list as `source` selects
// ModelNet10; of a folder with both ModelNet40 is taken, with a warning. Classes whose folder is absent are left out
// with a warning. Any other absent shape throws DataError or, with `allow_missing`, adds a warning.
DatasetListing list_normal_resampled(const std::filesystem::path& source, Split split, bool allow_missing);

// Reads clouds of equal size from HDF5 files in the format of ModelNet40, ShapeNetPart and similar datasets.

// Returns the files listed in a text file, one per line. Only the file name of each path is used: the files lie next to
// the list, and a path cannot lead elsewhere.
std::vector<std::filesystem::path> listed_clouds(const std::filesystem::path& list);

// Returns all ply_data_SPLIT*.h5 of a folder, sorted; `split` is train, val or test.
std::vector<std::filesystem::path> unlisted_clouds(const std::filesystem::path& folder, const std::string& split);

// Reads and concatenates the files. Each holds `data` [N, P, 3] (set_clouds), `label` [N] or [N, 1] below `classes`,
// all or none `normal` [N, P, 3], and, if there are `parts`, all or none `pid` [N, P], the parts of the points, -1 for
// those without a label. Throws DataError naming the file and the broken cloud. Parts are not checked, but for a -1
// that is stored in an unsigned type.
CloudArrays read_clouds(const std::vector<std::filesystem::path>& files, size_t classes, size_t parts = 0);

// Reads the HDF5 format of ModelNet40.

// Returns whether `folder` holds this format: train_files.txt or test_files.txt, or ply_data_train*.h5 or
// ply_data_test*.h5.
bool is_modelnet_hdf5(const std::filesystem::path& folder);

// Opens the files listed in train_files.txt or test_files.txt (only their file names are used: they lie in `folder`)
// or, without a list, all ply_data_train*.h5 or ply_data_test*.h5. Each holds `data` [N, P, 3], `label` [N] or [N, 1],
// and either all or none `normal` [N, P, 3]. Coordinates in float64 that are far from the origin are centred
// (set_clouds). Class names: shape_names.txt, one per line; a warning names those without a cloud. Throws DataError.
std::unique_ptr<PointDataset> open_modelnet_hdf5(const std::filesystem::path& folder, Split split);

// Reads the HDF5 format of ScanObjectNN.

// Returns whether `source` is a file *_objectdataset*.h5, or a folder that holds such files directly or in main_split/.
bool is_scan_object_nn(const std::filesystem::path& source);

// Opens training_objectdataset.h5 or test_objectdataset.h5. A file selects its variant:
// …/training_objectdataset_augmentedrot_scale75.h5 selects both splits of that variant. A folder selects the plain
// variant, with a warning if there are others, or the only one in it. Coordinates in float64 that are far from the
// origin are centred (set_clouds). The files hold `data` [N, P, 3], `label` [N], `mask` [N, P] (-1: background), 15
// classes, no normals. Throws DataError.
std::unique_ptr<PointDataset> open_scan_object_nn(const std::filesystem::path& source, Split split,
                                                  bool drop_background);

// Reads datasets in the HDF5 format of ShapeNetPart; see open_part_dataset.

bool is_part_hdf5(const std::filesystem::path& folder);
// Returns whether there are files of this split.
bool part_hdf5_has_split(const std::filesystem::path& folder, PartSplit split);
// Opens a split of the dataset. Throws DataError.
std::unique_ptr<PartDataset> open_part_hdf5(const std::filesystem::path& folder, PartSplit split);

// Reads the two text formats of ShapeNetPart; see open_part_dataset.

bool is_shapenet_part_text(const std::filesystem::path& folder);
// Returns whether coordinates and labels are in files of their own. Throws DataError without a folder of a class.
bool is_older_shapenet_part_text(const std::filesystem::path& folder);
// Opens a split of the dataset. Throws DataError; broken shapes are detected only when they are read.
std::unique_ptr<PartDataset> open_shapenet_part_text(const std::filesystem::path& folder, PartSplit split,
                                                     const ShapeReadOptions& options = {});

// Reads clouds with labels in a folder tree (list_labelled_tree); see open_part_dataset.

// Returns whether the folder has such clouds, also if an entry of it cannot be read: opening it says which.
bool is_labelled_tree(const std::filesystem::path& root);
// Returns whether the first cloud has labels that are not all 0, as those of LAS files may be that nobody labelled;
// false if it cannot be read.
bool labelled_tree_has_labels(const std::filesystem::path& root, const ShapeReadOptions& options = {});
// Returns which options of reading have an effect, by the names of the files.
ReadOptionUse labelled_tree_option_use(const std::filesystem::path& root);
// Opens a split. Reads all of its files and, without parts.txt, those of the other split, for the numbers of the parts;
// `get` reads a file again. Throws DataError, and BrokenFiles with all files that cannot be read or have no labels.
std::unique_ptr<PartDataset> open_labelled_tree(const std::filesystem::path& root, PartSplit split,
                                                const ShapeReadOptions& options = {});

}  // namespace geosft
