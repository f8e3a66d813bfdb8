// SPDX-License-Identifier: Apache-2.0
// The kernel ridge regression of a run, maybe with a random forest, whose predictions are averaged with those of its
// networks: their file in the RUN folder, and the choice of their weight.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "models/kernel_ridge.h"
#include "models/random_forest.h"

namespace geosft {

struct RunKernel {
  // Makes one without a regression, of a program such as "geosft-graph".
  RunKernel(std::string of_program, double initial_weight) : weight(initial_weight), program(std::move(of_program)) {}

  std::shared_ptr<const KernelRidge> regression;  // nullptr: the networks predict alone
  std::shared_ptr<const RandomForest> forest;     // beside the regression of labels; nullptr: none
  double forest_share = 0.5;                      // of its logits, from 0 to 1; the others are of the regression
  double weight;                                  // of the predictions of both, from 0 to 1
  std::string program;
  bool average_logits = false;  // of classes or labels, not their probabilities; false in files of earlier versions

  // Returns the predictions of the regression, float64 [n, t], or logits that are averaged with those of the forest.
  at::Tensor predict(const at::Tensor& features) const;

  // Chooses the weight, and the share of the forest, for features [n, columns] of a validation split; `loss` is given a
  // weight and predictions of both. A small split cannot choose the share, and a forest of share 0 is left out. Adds
  // the losses and the choice to `text`.
  void choose_weights(const at::Tensor& features, const std::function<double(double, const at::Tensor&)>& loss,
                      std::ostream& text);

  // Stores both in the RUN folder, and loads them from there if there are any. Throw DataError for a file that
  // cannot be written, is damaged, or is of another program.
  void save(const std::filesystem::path& run) const;
  void load(const std::filesystem::path& run);
  // Returns the tensors of the regression, of the forest and their weight, and takes such. Throws c10::Error for
  // others.
  std::map<std::string, at::Tensor> tensors() const;
  void take(std::map<std::string, at::Tensor> tensors);
  // Returns what it holds: "kernel ridge regression", "random forest" where its share is 1, "kernel ridge regression
  // and random forest", or an empty text.
  std::string text() const;
  // Returns the same of the file in a RUN folder. A damaged file is the first: a network alone does not need it.
  static std::string stored_in(const std::filesystem::path& run);
};

// Returns the file of a RUN folder.
std::filesystem::path kernel_file(const std::filesystem::path& run);

// Chooses the weight on a validation split of `items` items: 0.5, or the tenth with a smaller loss, from 0.2 to 0.8
// where the split is too small to tell that one of the two adds nothing. Adds the losses to `text`.
double chosen_weight(const std::function<double(double)>& loss_with, int64_t items, std::ostream& text);

}  // namespace geosft
