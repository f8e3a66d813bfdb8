// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/cloud_checks.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <set>

#include "data/data_error.h"
#include "data/points/file_dataset.h"
#include "data/seeds.h"
#include "geometry/cloud_warnings.h"
#include "geometry/threads.h"

namespace geosft {
namespace {

uint64_t coordinates_hash(const PointDataset& clouds, int64_t row) {
  const at::Tensor points = clouds.get(row).points.contiguous();
  return text_hash({static_cast<const char*>(points.const_data_ptr()), points.nbytes()});
}

}  // namespace

bool normals_point_inward(const Shape& shape) {
  return shape.normals.defined() && !normal_warnings(shape.points, shape.normals).empty();
}

std::string inward_text(const std::string& data, int64_t inward, int64_t seen, const std::string& items) {
  if (2 * inward <= seen) return "";
  return data + ": the normals of " + std::to_string(inward) + " of " + std::to_string(seen) + " " + items +
         " point inward on the whole";
}

std::string inward_normals(const PointDataset& clouds, const std::string& data) {
  constexpr int64_t enough = 100;
  const int64_t step = std::max<int64_t>(clouds.size() / enough, 1);
  int64_t seen = 0, inward = 0;
  for (int64_t i = 0; i < clouds.size(); i += step) {
    const Shape shape = clouds.get(i);
    if (!shape.normals.defined()) continue;
    ++seen;
    if (normals_point_inward(shape)) ++inward;
  }
  return inward_text(data, inward, seen);
}

std::vector<std::string> cloud_form_warnings(const PointDataset& clouds, const std::string& data) {
  const auto count = static_cast<size_t>(clouds.size());
  std::vector<std::string> texts(count);
  std::vector<char> seen(count, 0), inward(count, 0);
  parallel_items(clouds.size(), at::get_num_threads(), [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    try {
      const Shape shape = clouds.get(i);
      const std::vector<std::string> found = training_cloud_warnings(shape.points);
      if (!found.empty()) texts[at] = shape.name + ": " + found.front();
      seen[at] = shape.normals.defined() ? 1 : 0;
      inward[at] = normals_point_inward(shape) ? 1 : 0;
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
  const auto number_of = [](const std::vector<char>& marks) { return std::count(marks.begin(), marks.end(), 1); };
  if (std::string text = inward_text(data, number_of(inward), number_of(seen)); !text.empty()) {
    warnings.push_back(std::move(text));
  }
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
