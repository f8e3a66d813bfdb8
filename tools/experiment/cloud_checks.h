// SPDX-License-Identifier: Apache-2.0
// Checks the clouds of a dataset: points and normals that mislead a model, and test clouds that are training clouds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/points/point_dataset.h"
#include "geometry/cloud_warnings.h"

namespace geosft {

// Returns the fault of a cloud's normals (geometry/cloud_warnings.h); nothing if it has no normals. Those of a mesh are
// not checked for a misfit.
std::optional<NormalFault> normal_fault(const Shape& shape);

// The fault of the normals of the cloud or file `name`; nothing if it has no normals.
struct CheckedNormals {
  std::string name;
  std::optional<NormalFault> fault;
};

// Returns "DATA: the normals of 3 of 20 clouds do not fit their points (first: NAME)" if that is so of most of the
// clouds with normals, or of two and more than a tenth of them: some files may be of another frame or order of points.
// Thin or rough surfaces are rarely taken for these. Returns "... point inward on the whole (first: NAME)" if that is
// so of most, both if both are; empty otherwise. `items` is what the clouds are called.
std::string normal_faults_text(const std::string& data, const std::vector<CheckedNormals>& clouds,
                               const std::string& items = "clouds");

// Returns a sentence with the name of each cloud whose normals do not fit its points, where these are at most half of
// the clouds with normals: what holds for more of them normal_faults_text says.
std::vector<std::string> misfit_texts(const std::vector<CheckedNormals>& clouds);

// Returns normal_faults_text of a dataset, of which at most 200 clouds are looked at.
std::string sampled_normal_faults(const PointDataset& clouds, const std::string& data);

// Reads all clouds, in parallel, and returns sentences, each with the name `data`, on those whose points mislead a
// model (training_cloud_warnings), with the first one, normal_faults_text and misfit_texts. Clouds that cannot be read
// are left out.
std::vector<std::string> cloud_form_warnings(const PointDataset& clouds, const std::string& data);

// Returns how many clouds of `test` have the coordinates, in the same order, of one in `training`. Datasets that are
// not in memory are left out.
int64_t copied_clouds(const std::vector<const PointDataset*>& training, const PointDataset& test);

// Returns a sentence on copied_clouds with the name `data`; empty if there are none.
std::string copies_warning(const std::vector<const PointDataset*>& training, const PointDataset& test,
                           const std::string& data);

}  // namespace geosft
