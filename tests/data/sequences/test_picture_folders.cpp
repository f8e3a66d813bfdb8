// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/picture_folders.h"

#include <catch2/catch.hpp>

#include "data/graphs/graph_loader.h"
#include "data/sequences/sequence_dataset.h"
#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_picture_folders {
namespace {

namespace fs = std::filesystem;

ColourImage plain(int64_t side, uint8_t value) {
  return {side, side, std::vector<uint8_t>(static_cast<size_t>(3 * side * side), value)};
}

// Six pictures of two classes to train with, and two others.
void write_small(const fs::path& folder) {
  write_generated_pictures(folder, {.classes = 2, .train = 6, .validation = 2, .min_side = 20, .max_side = 30}, 1);
}

PackedItems small_views(const fs::path& folder) {
  return with_views(read_picture_folders(folder), {.side = 8, .min_crop_area = 0.3}, 4);
}

}  // namespace

TEST_CASE("pictures of a folder per class are listed, and not read", "[picture]") {
  const TemporaryFolder folder;
  write_text(folder / "train/b/1.JPG", "no picture, but nobody looks");
  write_text(folder / "train/a/3.png", "x");
  write_text(folder / "train/a/2.jpeg", "x");
  write_text(folder / "train/a/notes.txt", "x");
  write_text(folder / "val/b/9.jpg", "x");
  REQUIRE(is_picture_folders(folder.path()));
  REQUIRE(is_sequence_dataset(folder.path()));
  const PackedItems found = open_sequence_dataset(folder.path());
  CHECK(found.size() == 4);
  CHECK(found.schema.items == "pictures");
  CHECK(found.schema.output_names == std::vector<std::string>{"a", "b"});
  require_equal(found.target, at::tensor({0, 0, 1, 1}, at::kLong), "classes");
  REQUIRE(found.pictures);
  CHECK(fs::path(found.pictures->files[0]).filename() == "2.jpeg");
  CHECK(fs::path(found.pictures->files[3]).filename() == "9.jpg");
  CHECK((found.split->train.size() == 3 && found.split->validation.empty() && found.split->test.size() == 1));
  REQUIRE(found.warnings.size() == 1);
  CHECK_THAT(found.warnings[0], Catch::Contains("1 files are no pictures"));
  write_text(folder / "test/a/4.jpg", "x");
  const PackedItems three = read_picture_folders(folder.path());
  CHECK((three.split->train.size() == 3 && three.split->validation.size() == 1 && three.split->test.size() == 1));
}

TEST_CASE("folders of pictures that lack something are refused by name", "[picture]") {
  const TemporaryFolder folder;
  write_text(folder / "train/a/1.jpg", "x");
  write_text(folder / "train/b/1.jpg", "x");
  require_error([&] { read_picture_folders(folder.path()); }, {"val/CLASS"});
  write_text(folder / "val/a/1.jpg", "");
  write_text(folder / "train/a/2.jpg", "");
  require_error([&] { read_picture_folders(folder.path()); }, {"2 empty files", "train/a/2.jpg", "val/a/1.jpg"});
  write_text(folder / "val/c/1.jpg", "x");
  require_error([&] { read_picture_folders(folder.path()); }, {"val/c", "classes of train"});
  fs::create_directories(folder / "train/empty");
  require_error([&] { read_picture_folders(folder.path()); }, {"train/empty", "none"});
}

TEST_CASE("patches hold the pixels of their squares", "[picture]") {
  const TemporaryFolder folder;
  ColourImage image = plain(8, 0);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<uint8_t>(i);
  write_text(folder / "x.png", colour_png_bytes(image));
  const ViewOptions view{.side = 8, .crop_fraction = 1.0};
  const PackedItems one = with_views(single_picture(folder / "x.png"), view, 4);
  CHECK((one.schema.grid_height == 2 && one.schema.grid_width == 2 && one.schema.node_values == 48));
  const at::Tensor patches = picture_patches(*one.pictures, {0}), pixels = centre_view(image, view);
  REQUIRE(patches.sizes() == at::IntArrayRef({4, 48}));
  for (int64_t patch = 0; patch < 4; ++patch) {
    for (int64_t row = 0; row < 4; ++row) {
      for (int64_t column = 0; column < 4; ++column) {
        for (int64_t channel = 0; channel < 3; ++channel) {
          const double expected = pixels[channel][patch / 2 * 4 + row][patch % 2 * 4 + column].item<double>();
          CHECK(patches[patch][3 * (4 * row + column) + channel].item<double>() == expected);
        }
      }
    }
  }
  require_error([&] { with_views(one, {.side = 8}, 3); }, {"patch", "8", "3"});
  require_error([&] { with_views(PackedItems(), {.side = 8}, 4); }, {"pictures"});
}

TEST_CASE("a broken picture is named when it is read, and all of them on request", "[picture]") {
  const TemporaryFolder folder;
  write_small(folder.path());
  const PackedItems before = small_views(folder.path());
  CHECK(broken_pictures(*before.pictures).empty());
  const std::string second = before.pictures->files[1], fifth = before.pictures->files[4];
  write_text(second, read_text(second).substr(0, 200));
  write_text(fifth, "neither");
  require_error([&] { picture_patches(*before.pictures, {0, 4, 1}); }, {fifth});
  require_error([&] { labelled_items(before, {1}); }, {second});
  const std::vector<std::string> broken = broken_pictures(*before.pictures);
  REQUIRE(broken.size() == 2);
  CHECK_THAT(broken[0], Catch::Contains(second));
  CHECK_THAT(broken[1], Catch::Contains(fifth));
  GraphLoader loader(before, before.split->train, {.batch_size = 2});
  loader.start_epoch(0);
  require_error([&] { loader.next(); }, {second});
}

TEST_CASE("a loader reads batches of pictures from their files, ahead of time", "[picture]") {
  const TemporaryFolder folder;
  write_small(folder.path());
  const PackedItems views = small_views(folder.path());
  GraphLoader loader(views, views.split->train, {.batch_size = 4});
  CHECK(loader.batches_per_epoch() == 2);
  loader.start_epoch(0);
  const LabelledItems first = *loader.next(), second = *loader.next();
  CHECK_FALSE(loader.next());
  CHECK((first.items.size() == 4 && second.items.size() == 2));
  require_equal(first.graphs.ptr, at::tensor({0, 4, 8, 12, 16}, at::kLong), "ptr");
  CHECK(first.graphs.graph.rowptr.size(0) == 17);
  require_equal(second.node_values, picture_patches(*views.pictures, second.items), "centres");
  require_equal(second.target, views.target.index_select(0, at::tensor(second.items, at::kLong)), "classes");
  // An epoch that is left early does not disturb the next one.
  loader.start_epoch(1);
  loader.next();
  loader.start_epoch(2, 1);
  require_equal(loader.next()->node_values, second.node_values, "a resumed epoch");
}

TEST_CASE("random views depend on the seed, the epoch and the picture alone", "[picture]") {
  const TemporaryFolder folder;
  write_small(folder.path());
  const PackedItems views = small_views(folder.path());
  const auto of_epoch = [&](GraphLoaderOptions options, int64_t epoch) {
    options.augment = true;
    GraphLoader loader(views, views.split->train, options);
    loader.start_epoch(epoch);
    std::vector<at::Tensor> all(6);
    while (const auto batch = loader.next()) {
      for (size_t i = 0; i < batch->items.size(); ++i) {
        all[static_cast<size_t>(batch->items[i])] = batch->node_values.narrow(0, 4 * static_cast<int64_t>(i), 4);
      }
    }
    return all;
  };
  const auto whole = of_epoch({.batch_size = 6}, 3), small = of_epoch({.batch_size = 2, .shuffle = true, .seed = 0}, 3),
             later = of_epoch({.batch_size = 6}, 4), other = of_epoch({.batch_size = 6, .seed = 1}, 3);
  for (size_t i = 0; i < 6; ++i) {
    require_equal(small[i], whole[i], "other batches");
    CHECK_FALSE(at::equal(later[i], whole[i]));
    CHECK_FALSE(at::equal(other[i], whole[i]));
  }
  GraphLoader half(views, views.split->train, {.batch_size = 6, .share = {1, 2}, .augment = true});
  half.start_epoch(3);
  require_equal(half.next()->node_values, at::cat({whole[3], whole[4], whole[5]}), "the second process");
}

TEST_CASE("generated pictures are a function of the seed, JPEG and PNG", "[picture]") {
  const TemporaryFolder folder;
  const GeneratedPictures options{.classes = 3, .train = 12, .validation = 3, .min_side = 10, .max_side = 12};
  write_generated_pictures(folder / "a", options, 1);
  write_generated_pictures(folder / "b", options, 1);
  write_generated_pictures(folder / "c", options, 2);
  const PackedItems first = read_picture_folders(folder / "a"), same = read_picture_folders(folder / "b"),
                    other = read_picture_folders(folder / "c");
  CHECK(first.schema.output_names == std::vector<std::string>{"disc", "square", "triangle"});
  CHECK((first.split->train.size() == 12 && first.split->test.size() == 3));
  int pngs = 0;
  for (size_t i = 0; i < 15; ++i) {
    CHECK(read_text(same.pictures->files[i]) == read_text(first.pictures->files[i]));
    CHECK(read_text(other.pictures->files[i]) != read_text(first.pictures->files[i]));
    pngs += first.pictures->files[i].ends_with(".png") ? 1 : 0;
  }
  CHECK(pngs == 3);
  require_error([&] { write_generated_pictures(folder / "d", {.classes = 9}, 1); }, {"classes", "9"});
  require_error([&] { write_generated_pictures(folder / "d", {.classes = 3, .train = 2}, 1); }, {"train"});
  require_error([&] { write_generated_pictures(folder / "d", {.min_side = 20, .max_side = 10}, 1); }, {"min_side"});
}

}  // namespace geosft::test::test_picture_folders
