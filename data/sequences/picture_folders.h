// SPDX-License-Identifier: Apache-2.0
// Datasets of pictures in a folder per class, in the form of ImageNet. Pictures stay in their files until a loader asks
// for a batch of them.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/packed_items.h"
#include "data/sequences/picture_transforms.h"

namespace geosft {

// The files of a dataset, one per item, and how they become tokens.
struct PictureFiles {
  std::vector<std::string> files;
  ViewOptions view;
  int64_t patch = 16;  // side of a token in pixels, a divisor of view.side

  int64_t patches_per_side() const { return view.side / patch; }
  int64_t tokens() const { return patches_per_side() * patches_per_side(); }
  int64_t values() const { return 3 * patch * patch; }  // of a token
};

// Random views of a pass: each is a function of `seed` and its item.
struct PictureAugmentation {
  uint64_t seed = 0;
};

// Decodes the pictures of `items`, several at a time, and cuts each view into patches, row-major: float32 [items *
// tokens, values]. The values of a patch are its pixels, row-major, red, green and blue of each. Without `augmentation`
// the views are the centres. Throws DataError, naming the file, for a picture that cannot be read.
at::Tensor picture_patches(const PictureFiles& pictures, const std::vector<int64_t>& items,
                           const std::optional<PictureAugmentation>& augmentation = std::nullopt);

// Decodes every picture and returns one message for each that is broken, in the order of the files.
std::vector<std::string> broken_pictures(const PictureFiles& pictures);

// Lists train/CLASS/*.jpg (.jpeg, .png) and val/CLASS/* or test/CLASS/*, in order of names; classes are the folders of
// train. With val and test, val is for validation; otherwise the one that is there is the test set, as ImageNet's val
// is in papers. Other files are left out, with a warning. Items have one step, the picture, until `with_views`; no
// picture is read. Throws DataError for a class of train without a picture, for a class that train does not have, for
// a folder without val and test, and for empty files, all of which are named.
PackedItems read_picture_folders(const std::filesystem::path& folder);
bool is_picture_folders(const std::filesystem::path& folder);

// Makes an unlabelled dataset of one picture.
PackedItems single_picture(const std::filesystem::path& file);

// Sets how pictures become tokens, and the sizes in the schema. `patch` >= 1 must divide view.side.
PackedItems with_views(const PackedItems& pictures, const ViewOptions& view, int64_t patch);

struct GeneratedPictures {
  int64_t classes = 4, train = 400, validation = 100;  // pictures per split, over all classes
  int64_t min_side = 48, max_side = 96;                // in pixels, of each side
};

// Writes generated pictures in that form: a shape (disc, square, triangle, ring, cross, bar, …) of random place, size
// and colour on a background of a random gradient and noise; the class is the shape. Every fourth is a PNG, the others
// are JPEG. Classes: 2 to 6.
void write_generated_pictures(const std::filesystem::path& folder, const GeneratedPictures& options, uint64_t seed);

}  // namespace geosft
