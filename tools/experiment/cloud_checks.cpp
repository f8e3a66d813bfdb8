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

int64_t count_with_normals(const std::vector<CheckedNormals>& clouds) {
  return std::ranges::count_if(clouds, [](const CheckedNormals& one) { return one.fault.has_value(); });
}

int64_t count_of(const std::vector<CheckedNormals>& clouds, NormalFault fault) {
  return std::ranges::count(clouds, std::optional(fault), &CheckedNormals::fault);
}

}  // namespace

std::optional<NormalFault> normal_fault(const Shape& shape) {
  if (!shape.normals.defined()) return std::nullopt;
  return normal_fault(shape.points, shape.normals, /*check_misfit=*/!shape.from_mesh);
}

std::string normal_faults_text(const std::string& data, const std::vector<CheckedNormals>& clouds,
                               const std::string& items) {
  const int64_t with_normals = count_with_normals(clouds);
  std::string text;
  for (const auto& [fault, said] : {std::pair(NormalFault::misfit, " do not fit their points"),
                                    std::pair(NormalFault::inward, " point inward on the whole")}) {
    const int64_t count = count_of(clouds, fault);
    const bool some = fault == NormalFault::misfit && count >= 2 && 10 * count > with_normals;
    if (2 * count <= with_normals && !some) continue;
    text += text.empty() ? data + ": the normals of " + std::to_string(count) + " of " + std::to_string(with_normals) +
                               " " + items
                         : ", and those of " + std::to_string(count);
    text += said + std::string(" (first: ") +
            std::ranges::find(clouds, std::optional(fault), &CheckedNormals::fault)->name + ")";
  }
  return text;
}

std::vector<std::string> misfit_texts(const std::vector<CheckedNormals>& clouds) {
  std::vector<std::string> texts;
  if (2 * count_of(clouds, NormalFault::misfit) > count_with_normals(clouds)) return texts;
  for (const auto& [name, fault] : clouds) {
    if (fault == NormalFault::misfit) texts.push_back(name + ": its normals do not fit its points");
  }
  return texts;
}

std::string sampled_normal_faults(const PointDataset& clouds, const std::string& data) {
  constexpr int64_t enough = 100;
  const int64_t step = std::max<int64_t>(clouds.size() / enough, 1);
  std::vector<CheckedNormals> checked;
  for (int64_t i = 0; i < clouds.size(); i += step) {
    const Shape shape = clouds.get(i);
    checked.push_back({shape.name, normal_fault(shape)});
  }
  return normal_faults_text(data, checked);
}

std::vector<std::string> cloud_form_warnings(const PointDataset& clouds, const std::string& data) {
  const auto count = static_cast<size_t>(clouds.size());
  std::vector<std::string> texts(count);
  std::vector<CheckedNormals> normals(count);
  parallel_items(clouds.size(), at::get_num_threads(), [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    try {
      const Shape shape = clouds.get(i);
      const std::vector<std::string> found = training_cloud_warnings(shape.points);
      if (!found.empty()) texts[at] = shape.name + ": " + found.front();
      normals[at] = {shape.name, normal_fault(shape)};
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
  if (std::string text = normal_faults_text(data, normals); !text.empty()) warnings.push_back(std::move(text));
  for (const std::string& text : misfit_texts(normals)) warnings.push_back(data + ": " + text);
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
