// SPDX-License-Identifier: Apache-2.0
// Subjects to look at that need no file.
#pragma once

#include <memory>

#include "tests/support.h"
#include "tests/tools/classify/small_classifier.h"
#include "tools/scene/cloud_gallery.h"
#include "tools/scene/colouring.h"

namespace geosft::test {

inline std::unique_ptr<view::CloudGallery> gallery_of(std::optional<RunModel> trained) {
  return std::make_unique<view::CloudGallery>(std::vector<std::filesystem::path>{},
                                              std::make_unique<ArrayDataset>(random_clouds()), std::move(trained),
                                              PointDatasetOptions{});
}

// Ten random clouds with a classifier of such settings.
inline std::unique_ptr<view::CloudGallery> gallery_of(const ClassifySettings& settings) {
  RunModel trained{{{"a", "b", "c"}}, settings, small_model(settings)};
  trained.model->eval();
  return gallery_of(std::optional<RunModel>(std::move(trained)));
}

// Ten random clouds; with a small classifier of two layers and four heads, which sees 40 points of each.
inline std::unique_ptr<view::CloudGallery> random_gallery(bool with_model) {
  return with_model ? gallery_of(small_settings()) : gallery_of(std::optional<RunModel>());
}

inline view::Choices choose(view::Colouring colouring) {
  view::Choices choices;
  choices.colouring = colouring;
  return choices;
}

}  // namespace geosft::test
