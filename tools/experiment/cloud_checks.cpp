// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/cloud_checks.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <set>
#include <utility>

#include "data/data_error.h"
#include "data/points/file_dataset.h"
#include "data/seeds.h"
#include "geometry/threads.h"

namespace geosft {
namespace {

uint64_t coordinates_hash(const PointDataset& clouds, int64_t row) {
  const at::Tensor points = clouds.get(row).points.contiguous();
  return text_hash({static_cast<const char*>(points.const_data_ptr()), points.nbytes()});
}

}  // namespace

std::optional<NormalFault> normal_fault(const Shape& shape) {
  if (!shape.normals.defined()) return std::nullopt;
  return normal_fault(shape.points, shape.normals, /*check_misfit=*/!shape.from_mesh);
}

std::string normal_faults_text(const std::string& data, const std::vector<std::optional<NormalFault>>& faults,
                               const std::string& items) {
  const auto with_normals = std::ranges::count_if(faults, [](const auto& fault) { return fault.has_value(); });
  for (const auto& [fault, text] : {std::pair(NormalFault::misfit, " do not fit their points"),
                                    std::pair(NormalFault::inward, " point inward on the whole")}) {
    const auto count = std::ranges::count(faults, std::optional(fault));
    if (2 * count <= with_normals) continue;
    return data + ": the normals of " + std::to_string(count) + " of " + std::to_string(with_normals) + " " + items +
           text;
  }
  return "";
}

std::string sampled_normal_faults(const PointDataset& clouds, const std::string& data) {
  constexpr int64_t enough = 100;
  const int64_t step = std::max<int64_t>(clouds.size() / enough, 1);
  std::vector<std::optional<NormalFault>> faults;
  for (int64_t i = 0; i < clouds.size(); i += step) faults.push_back(normal_fault(clouds.get(i)));
  return normal_faults_text(data, faults);
}

std::vector<std::string> cloud_form_warnings(const PointDataset& clouds, const std::string& data) {
  const auto count = static_cast<size_t>(clouds.size());
  std::vector<std::string> texts(count);
  std::vector<std::optional<NormalFault>> faults(count);
  parallel_items(clouds.size(), at::get_num_threads(), [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    try {
      const Shape shape = clouds.get(i);
      const std::vector<std::string> found = training_cloud_warnings(shape.points);
      if (!found.empty()) texts[at] = shape.name + ": " + found.front();
      faults[at] = normal_fault(shape);
    } catch (const DataError&) {  // named where broken clouds are
    }
  });
  std::vector<std::string> warnings;
  const auto first = std::ranges::find_if(texts, [](const std::string& text) { return !text.empty(); });
  if (first != texts.end()) {
    const auto more = std::count_if(first + 1, texts.end(), [](const std::string& text) { return !text.empty(); });
    warnings.push_back(data + ": " + *first +
                       (more == 0 ? ""
                                  : "; " + std::to_string(more) + " more of its " + std::to_string(count) +
                                        " clouds may mislead a model of shapes"));
  }
  if (std::string text = normal_faults_text(data, faults); !text.empty()) warnings.push_back(std::move(text));
  return warnings;
}

int64_t copied_clouds(const std::vector<const PointDataset*>& training, const PointDataset& test) {
  if (!test.in_memory()) return 0;
  std::set<uint64_t> known;
  for (const PointDataset* const clouds : training) {
    for (int64_t i = 0; clouds->in_memory() && i < clouds->size(); ++i) known.insert(coordinates_hash(*clouds, i));
  }
  int64_t copies = 0;
  for (int64_t i = 0; i < test.size(); ++i) copies += known.contains(coordinates_hash(test, i)) ? 1 : 0;
  return copies;
}

std::string copies_warning(const std::vector<const PointDataset*>& training, const PointDataset& test,
                           const std::string& data) {
  const int64_t copies = copied_clouds(training, test);
  if (copies == 0) return "";
  return data + ": " + std::to_string(copies) + " of the " + std::to_string(test.size()) +
         " clouds to test with have the coordinates of one to train with";
}

}  // namespace geosft
