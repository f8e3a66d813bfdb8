// SPDX-License-Identifier: Apache-2.0
// Checks the clouds of a dataset: points and normals that mislead a model, and test clouds that are training clouds.
#pragma once

#include <string>
#include <vector>

#include "data/points/point_dataset.h"

namespace geosft {

// Returns whether a cloud has normals that point inward on the whole.
bool normals_point_inward(const Shape& shape);

// Returns "DATA: the normals of 3 of 4 clouds point inward on the whole" if that is so of most of those `seen`; empty
// otherwise. `items` names the clouds.
std::string inward_text(const std::string& data, int64_t inward, int64_t seen, const std::string& items = "clouds");

// Returns inward_text of the clouds that have normals, of at most 200 that are looked at.
std::string inward_normals(const PointDataset& clouds, const std::string& data);

// Reads all clouds, in parallel, and returns sentences, each with the name `data`, on those whose points mislead a
// model (training_cloud_warnings), with the first one, and inward_text. Clouds that cannot be read are left out.
std::vector<std::string> cloud_form_warnings(const PointDataset& clouds, const std::string& data);

// Returns how many clouds of `test` have the coordinates, in the same order, of one in `training`. Datasets that are
// not in memory are left out.
int64_t copied_clouds(const std::vector<const PointDataset*>& training, const PointDataset& test);

// Returns a sentence on copied_clouds with the name `data`; empty if there are none.
std::string copies_warning(const std::vector<const PointDataset*>& training, const PointDataset& test,
                           const std::string& data);

}  // namespace geosft
