// SPDX-License-Identifier: Apache-2.0
#include "models/theory/support_vector_regression.h"

#include <libsvm/svm.h>

#include <cmath>
#include <vector>

namespace geosft {
namespace {

struct FreeModel {
  void operator()(svm_model* model) const { svm_free_and_destroy_model(&model); }
};
using Model = std::unique_ptr<svm_model, FreeModel>;

// Rows of a precomputed kernel matrix in LIBSVM's format: row number, values, terminator.
struct KernelRows {
  explicit KernelRows(const at::Tensor& kernel) {
    const at::Tensor values = kernel.contiguous();
    const int64_t count = values.size(0), columns = values.size(1);
    nodes.reserve(static_cast<size_t>(count * (columns + 2)));
    const double* value = values.const_data_ptr<double>();
    for (int64_t i = 0; i < count; ++i) {
      rows.push_back(nodes.data() + nodes.size());
      nodes.push_back({0, static_cast<double>(i + 1)});
      for (int64_t j = 0; j < columns; ++j) nodes.push_back({static_cast<int>(j + 1), *value++});
      nodes.push_back({-1, 0});
    }
  }
  std::vector<svm_node> nodes;
  std::vector<svm_node*> rows;
};

svm_parameter parameters(const RegressionOptions& options) {
  svm_parameter parameter{};
  parameter.svm_type = EPSILON_SVR;
  parameter.kernel_type = PRECOMPUTED;
  parameter.cache_size = 100;
  parameter.eps = options.tolerance;
  parameter.C = options.cost;
  parameter.p = options.epsilon;
  return parameter;
}

void check_problem(const at::Tensor& kernel, const at::Tensor& targets, const RegressionOptions& options) {
  TORCH_CHECK(kernel.dim() == 2 && kernel.size(0) == kernel.size(1) && kernel.size(0) >= 1 &&
                  kernel.scalar_type() == at::kDouble,
              "kernel must be [N, N] float64 with N >= 1, got ", kernel.scalar_type(), " ", kernel.sizes());
  TORCH_CHECK(targets.dim() == 2 && targets.size(0) == kernel.size(0) && targets.scalar_type() == at::kDouble,
              "targets must be [N, d] float64 with N = ", kernel.size(0), ", got ", targets.scalar_type(), " ",
              targets.sizes());
  TORCH_CHECK(kernel.isfinite().all().item<bool>(), "kernel must be finite");
  TORCH_CHECK(targets.isfinite().all().item<bool>(), "targets must be finite");
  TORCH_CHECK(options.cost > 0 && std::isfinite(options.cost), "cost must be finite and above 0, not ", options.cost);
  TORCH_CHECK(options.epsilon >= 0, "epsilon must be at least 0, not ", options.epsilon);
  TORCH_CHECK(options.tolerance > 0, "tolerance must be above 0, not ", options.tolerance);
}

}  // namespace

// LIBSVM's models point into the rows.
struct SupportVectorRegression::Models {
  explicit Models(const at::Tensor& kernel) : rows(kernel) {}
  KernelRows rows;
  std::vector<Model> columns;
};

SupportVectorRegression::SupportVectorRegression(const at::Tensor& kernel, const at::Tensor& targets,
                                                 const RegressionOptions& options) {
  check_problem(kernel, targets, options);
  models_ = std::make_unique<Models>(kernel);
  dual_ = at::zeros(targets.sizes(), targets.options());
  bias_ = at::zeros({targets.size(1)}, targets.options());
  const svm_parameter parameter = parameters(options);
  svm_set_print_string_function([](const char*) {});
  for (int64_t column = 0; column < targets.size(1); ++column) {
    const at::Tensor goal = targets.select(1, column).contiguous().clone();
    svm_problem problem{static_cast<int>(kernel.size(0)), goal.mutable_data_ptr<double>(), models_->rows.rows.data()};
    Model model(svm_train(&problem, &parameter));
    for (int n = 0; n < model->l; ++n) {
      dual_[model->sv_indices[n] - 1][column] = model->sv_coef[0][n];
    }
    bias_[column] = -model->rho[0];
    models_->columns.push_back(std::move(model));
  }
}

SupportVectorRegression::~SupportVectorRegression() = default;
SupportVectorRegression::SupportVectorRegression(SupportVectorRegression&&) noexcept = default;
SupportVectorRegression& SupportVectorRegression::operator=(SupportVectorRegression&&) noexcept = default;

int64_t SupportVectorRegression::support_vectors() const {
  return dual_.ne(0).any(1).sum().item<int64_t>();
}

at::Tensor SupportVectorRegression::predict(const at::Tensor& rows) const {
  TORCH_CHECK(rows.dim() == 2 && rows.size(1) == dual_.size(0) && rows.scalar_type() == at::kDouble,
              "rows must be [n, N] float64 with N = ", dual_.size(0), ", got ", rows.scalar_type(), " ", rows.sizes());
  const KernelRows given(rows);
  const at::Tensor predicted = at::empty({rows.size(0), dual_.size(1)}, rows.options());
  double* to = predicted.mutable_data_ptr<double>();
  for (const svm_node* row : given.rows) {
    for (const Model& model : models_->columns) *to++ = svm_predict(model.get(), row);
  }
  return predicted;
}

}  // namespace geosft
