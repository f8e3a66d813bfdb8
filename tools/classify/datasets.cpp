// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/datasets.h"

#include <iostream>

#include "tools/experiment/progress.h"

namespace geosft {

std::unique_ptr<PointDataset> open_dataset(const ClassifySettings& settings, Split split) {
  PointDatasetOptions options = settings.dataset();
  std::unique_ptr<ProgressBar> bar;
  options.progress = [&](int64_t done, int64_t total) {
    if (!bar) bar = std::make_unique<ProgressBar>("sampling meshes", total);
    bar->update(done);
  };
  auto dataset = open_point_dataset(settings.data, split, options);
  if (bar) bar->finish();
  for (const std::string& warning : dataset->warnings()) std::cerr << warning << '\n';
  return dataset;
}

}  // namespace geosft
