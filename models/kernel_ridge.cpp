// SPDX-License-Identifier: Apache-2.0
#include "models/kernel_ridge.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace geosft {
namespace {

constexpr std::array<double, 4> fingerprint_shares = {0.05, 0.15, 0.4, 0.7};  // beside descriptors
constexpr std::array<double, 2> linear_shares = {0.0, 0.5};                   // of the descriptors' kernels
constexpr std::array<double, 7> all_ridges = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0};
constexpr int64_t part_count = 5;
constexpr int64_t large_group = 20;  // one with more than a share of 1 / large_group of the rows
constexpr int64_t max_knots = 256;
constexpr size_t deciding = 12;  // of many regressions, those that choose the mixture of all
constexpr int64_t chunk_rows = 2048;

// Returns the positions of `count` of `total` rows, ascending, which depend on the seed alone.
at::Tensor some_rows(int64_t total, int64_t count, uint64_t seed) {
  if (count >= total) return at::arange(total, at::kLong);
  const at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  return std::get<0>(at::randperm(total, generator, at::kLong).slice(0, 0, count).sort());
}

// Returns the landmarks of a large set. Labels with few ones have them first, up to half of the rows, since only what
// is near a landmark can be told apart.
at::Tensor landmark_rows(const at::Tensor& targets, const KernelRidgeOptions& options) {
  if (!options.labels) return some_rows(targets.size(0), options.landmarks, options.seed);
  const at::Tensor known = targets.isfinite(), ones = targets.eq(1);
  const at::Tensor rare = ones.sum(0) * 2 < known.sum(0);
  const at::Tensor minority = at::where(rare, ones, targets.eq(0)).any(1);
  const at::Tensor few = minority.nonzero().flatten(), others = minority.logical_not().nonzero().flatten();
  const int64_t of_few = std::min(few.numel(), std::max(options.landmarks / 2, options.landmarks - others.numel()));
  return std::get<0>(
      at::cat({few.index_select(0, some_rows(few.numel(), of_few, options.seed)),
               others.index_select(0, some_rows(others.numel(), options.landmarks - of_few, options.seed))})
          .sort());
}

// The normal scores of the mid-ranks of a column, as a piecewise linear function through at most max_knots of its
// values; a constant column has none.
struct NormalScores {
  std::vector<double> values, scores;
};

NormalScores normal_scores(const at::Tensor& column) {
  const at::Tensor known = std::get<0>(column.masked_select(column.isfinite()).to(at::kDouble).sort()).contiguous();
  const double* const begin = known.const_data_ptr<double>();
  const double* const end = begin + known.numel();
  std::vector<double> distinct, ranks;
  for (const double* at = begin; at != end;) {
    const double* const next = std::upper_bound(at, end, *at);
    distinct.push_back(*at);
    ranks.push_back(0.5 * static_cast<double>((at - begin) + (next - begin)) / static_cast<double>(known.numel()));
    at = next;
  }
  NormalScores out;
  const auto count = static_cast<int64_t>(distinct.size());
  if (count < 2) return out;
  const int64_t knots = std::min(count, max_knots);
  for (int64_t knot = 0; knot < knots; ++knot) {
    const auto place = static_cast<size_t>(knot * (count - 1) / (knots - 1));
    out.values.push_back(distinct[place]);
    out.scores.push_back(std::clamp(ranks[place], 1e-3, 1 - 1e-3));
  }
  at::Tensor scores = at::special_ndtri(at::tensor(out.scores, at::kDouble));
  out.scores.assign(scores.const_data_ptr<double>(), scores.const_data_ptr<double>() + knots);
  return out;
}

double interpolated(const double* values, const double* scores, int64_t knots, double value) {
  if (std::isnan(value)) return 0.0;
  const double* const upper = std::upper_bound(values, values + knots, value);
  if (upper == values) return scores[0];
  if (upper == values + knots) return scores[knots - 1];
  const int64_t right = upper - values;
  const double part = (value - values[right - 1]) / (values[right] - values[right - 1]);
  return scores[right - 1] + part * (scores[right] - scores[right - 1]);
}

// Maps descriptors [n, d] to their scores, float32 [n, d].
at::Tensor descriptor_scores(const at::Tensor& descriptors, const std::map<std::string, at::Tensor>& state) {
  const at::Tensor in = descriptors.to(at::kDouble).contiguous(), ptr = state.at("knot_ptr");
  const int64_t rows = in.size(0), columns = in.size(1);
  at::Tensor out = at::zeros({rows, columns}, at::kFloat);
  const double* const from = in.const_data_ptr<double>();
  const double* const values = state.at("knot_values").const_data_ptr<double>();
  const double* const scores = state.at("knot_scores").const_data_ptr<double>();
  const int64_t* const first = ptr.const_data_ptr<int64_t>();
  float* const to = out.data_ptr<float>();
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t begin = first[c], knots = first[c + 1] - begin;
      if (knots == 0) continue;
      to[i * columns + c] =
          static_cast<float>(interpolated(values + begin, scores + begin, knots, from[i * columns + c]));
    }
  }
  return out;
}

// Fits the scores to the descriptors of the training rows; those of a column have the deviation 1.
void fit_scores(const at::Tensor& descriptors, std::map<std::string, at::Tensor>& state) {
  std::vector<double> values, scores;
  std::vector<int64_t> ptr = {0};
  for (int64_t c = 0; c < descriptors.size(1); ++c) {
    const NormalScores found = normal_scores(descriptors.select(1, c));
    values.insert(values.end(), found.values.begin(), found.values.end());
    scores.insert(scores.end(), found.scores.begin(), found.scores.end());
    ptr.push_back(static_cast<int64_t>(values.size()));
  }
  state["knot_values"] = at::tensor(values, at::kDouble);
  state["knot_scores"] = at::tensor(scores, at::kDouble);
  state["knot_ptr"] = at::tensor(ptr, at::kLong);
  if (descriptors.size(1) == 0) return;  // of nothing there is no deviation, of which LibTorch would warn
  const at::Tensor deviation = descriptor_scores(descriptors, state).std(0, /*unbiased=*/false).to(at::kDouble);
  for (int64_t c = 0; c < descriptors.size(1); ++c) {
    state["knot_scores"]
        .slice(0, ptr[static_cast<size_t>(c)], ptr[static_cast<size_t>(c) + 1])
        .div_(std::max(deviation[c].item<double>(), 1e-6));
  }
}

at::Tensor squared_row_distances(const at::Tensor& a, const at::Tensor& b) {
  return (a.square().sum(1).unsqueeze(1) + b.square().sum(1).unsqueeze(0) - 2 * a.matmul(b.t())).clamp_min(0);
}

// Returns the counts, at most the largest of `type`, uint8 or int16.
at::Tensor counts_of(const at::Tensor& logarithms, at::ScalarType type) {
  const double largest = type == at::kByte ? 255 : 32767;
  return at::expm1(logarithms.to(at::kFloat).nan_to_num(0.0)).round().clamp(0, largest).to(type).contiguous();
}

// The shares of the kernels.
struct Mixture {
  double gaussian = 0, linear = 0, fingerprints = 0;
};

// Lists the mixtures to choose from, for features with descriptors, fingerprints or both.
std::vector<Mixture> all_mixtures(bool described, bool counted) {
  std::vector<Mixture> mixtures;
  const auto add = [&](double share) {
    for (const double linear : linear_shares)
      mixtures.push_back({(1 - share) * (1 - linear), (1 - share) * linear, share});
  };
  if (described && !counted) add(0);
  if (described && counted) {
    for (const double share : fingerprint_shares) add(share);
  }
  if (counted) mixtures.push_back({0, 0, 1});
  return mixtures;
}

// Returns what index_select does, without a copy where that is all, in order.
at::Tensor some_of(const at::Tensor& matrix, int64_t dim, const at::Tensor& ascending) {
  return ascending.numel() == matrix.size(dim) ? matrix : matrix.index_select(dim, ascending);
}

// The kernels between some rows and the stored ones; each undefined if there are no such columns.
struct KernelMatrices {
  at::Tensor gaussian, linear, fingerprints;  // float32 [n, m]

  // Returns the mixture between some of the rows and some of the stored ones, both ascending; float64.
  at::Tensor mixed(const Mixture& mixture, const at::Tensor& rows, const at::Tensor& columns) const {
    at::Tensor sum = at::zeros({rows.numel(), columns.numel()}, at::kDouble);
    for (const auto& [kernel, share] : {std::pair(&gaussian, mixture.gaussian), std::pair(&linear, mixture.linear),
                                        std::pair(&fingerprints, mixture.fingerprints)}) {
      if (share > 0) sum.add_(some_of(some_of(*kernel, 0, rows), 1, columns), share);
    }
    return sum;
  }
};

// Returns the Gaussian kernel between the scores of some rows and the stored ones.
at::Tensor gaussian_kernel(const at::Tensor& scores, const std::map<std::string, at::Tensor>& state) {
  return squared_row_distances(scores, state.at("scores")).mul_(-state.at("gaussian").item<double>()).exp_();
}

KernelMatrices kernels_of(const at::Tensor& scores, const at::Tensor& counts,
                          const std::map<std::string, at::Tensor>& state) {
  KernelMatrices out;
  const at::Tensor &own_scores = state.at("scores"), &own_counts = state.at("counts");
  if (scores.size(1) > 0) {
    out.gaussian = gaussian_kernel(scores, state);
    out.linear = scores.matmul(own_scores.t()).div_(static_cast<double>(scores.size(1)));
  }
  if (counts.size(1) > 0) {
    out.fingerprints = min_max_kernel(counts, own_counts, state.at("bits").item<int64_t>(),
                                      state.at("logarithms").item<int64_t>() != 0);
  }
  return out;
}

at::Tensor with_ridge(const at::Tensor& kernel, double ridge) {
  at::Tensor out = kernel.clone();
  out.diagonal().add_(ridge);
  return out;
}

// Solves a x = b, b [n, t], for a symmetric positive definite matrix, whose diagonal grows until rounding lets it be
// factorised; nullopt if that would change it beyond rounding.
std::optional<at::Tensor> solve_positive(at::Tensor a, const at::Tensor& b) {
  for (double more = 1e-8; more < 1; more *= 10) {
    const auto [factor, info] = at::linalg_cholesky_ex(a);
    if (info.item<int64_t>() == 0) return at::cholesky_solve(b, factor);
    a = with_ridge(a, more * a.diagonal().mean().item<double>());
  }
  return std::nullopt;
}

// The choice for some targets, and their predictions for the left-out rows, [n, t].
struct Selection {
  Mixture mixture;
  int64_t place = static_cast<int64_t>(all_ridges.size()) / 2;  // of the ridge in all_ridges
  double error = std::numeric_limits<double>::infinity();
  at::Tensor predicted;

  double ridge() const { return all_ridges[static_cast<size_t>(place)]; }
};

// Returns the residuals of the rows if each part is left out, [n, t]; nullopt if the matrix cannot be inverted.
std::optional<at::Tensor> left_out_residuals(const at::Tensor& kernel, const at::Tensor& targets,
                                             const std::vector<at::Tensor>& parts) {
  const auto [factor, info] = at::linalg_cholesky_ex(kernel);
  if (info.item<int64_t>() != 0) return std::nullopt;
  const at::Tensor inverse = at::cholesky_inverse(factor), weights = inverse.matmul(targets);
  at::Tensor residuals = at::zeros_like(targets);
  for (const at::Tensor& part : parts) {
    if (part.numel() == 0) continue;
    const at::Tensor block = inverse.index_select(0, part).index_select(1, part);
    const std::optional<at::Tensor> of_part = solve_positive(block, weights.index_select(0, part));
    if (!of_part) return std::nullopt;
    residuals.index_copy_(0, part, *of_part);
  }
  return residuals;
}

// Returns what a mixture, of which `kernel` is made, and a ridge predict; without predictions where the kernel cannot
// be inverted.
Selection with_choice(const Mixture& mixture, int64_t place, const at::Tensor& kernel, const at::Tensor& targets,
                      const std::vector<at::Tensor>& parts) {
  Selection out;
  out.mixture = mixture;
  out.place = place;
  const std::optional<at::Tensor> residuals = left_out_residuals(with_ridge(kernel, out.ridge()), targets, parts);
  if (!residuals) return out;
  out.error = residuals->square().mean().item<double>();
  out.predicted = targets - *residuals;
  return out;
}

// Chooses the mixture, and for each the ridge: from the best one so far, at first that at `start`, up and down as long
// as the error falls.
Selection select(const std::vector<Mixture>& mixtures, int64_t start, const KernelMatrices& kernels,
                 const at::Tensor& rows, const at::Tensor& targets, const std::vector<at::Tensor>& parts) {
  Selection best;
  for (const Mixture& mixture : mixtures) {
    const at::Tensor kernel = kernels.mixed(mixture, rows, rows);
    const int64_t from = start;
    double lowest = std::numeric_limits<double>::infinity();  // of this mixture
    const auto falls = [&](int64_t place) {
      if (place < 0 || place >= static_cast<int64_t>(all_ridges.size())) return false;
      Selection here = with_choice(mixture, place, kernel, targets, parts);
      const double error = here.error;
      if (error < best.error) {
        best = std::move(here);
        start = place;
      }
      return error < std::exchange(lowest, std::min(lowest, error));
    };
    falls(from);
    int64_t place = from + 1;
    while (falls(place)) ++place;
    if (place > from + 1) continue;
    for (place = from - 1; falls(place);) --place;
  }
  return best;
}

// Returns the logarithm of the odds of ones, with one more of either kind.
double log_odds(const at::Tensor& labels) {
  const double ones = labels.sum().item<double>();
  return std::log((ones + 1) / (static_cast<double>(labels.numel()) - ones + 1));
}

// Fits labels = sigmoid(slope * score + offset) by Newton's method, with the targets of Platt ("Probabilistic outputs
// for support vector machines", 1999) that keep separable labels finite.
std::pair<double, double> logistic_fit(const at::Tensor& score, const at::Tensor& label) {
  const double ones = label.sum().item<double>(), zeros = static_cast<double>(label.numel()) - ones;
  const at::Tensor platt_targets = label * ((ones + 1) / (ones + 2)) + (1 - label) * (1 / (zeros + 2));
  const double scale = std::max(score.std(0, /*unbiased=*/false).item<double>(), 1e-9);
  const at::Tensor x = at::stack({score / scale, at::ones_like(score)}, 1);
  at::Tensor weights = at::tensor({0.0, std::log((ones + 1) / (zeros + 1))}, at::kDouble);
  for (int64_t step = 0; step < 50; ++step) {
    const at::Tensor p = x.mv(weights).sigmoid();
    at::Tensor hessian = x.t().matmul(x * (p * (1 - p)).unsqueeze(1));
    hessian.diagonal().add_(1e-6);
    const std::optional<at::Tensor> move = solve_positive(hessian, x.t().mv(p - platt_targets).unsqueeze(1));
    if (!move) break;
    weights = weights - move->squeeze(1).clamp(-2, 2);
    if (move->abs().max().item<double>() < 1e-9) break;
  }
  return {std::max(weights[0].item<double>(), 0.0) / scale, weights[1].item<double>()};
}

// Returns the factor of scores [n, classes] with which their softmax has the smallest cross-entropy with `classes`, of
// one 1 in each row, and of one row more that is of every class alike: otherwise few rows that are all right would have
// certain probabilities. The slope of the cross-entropy rises with the factor; up to 100 it is searched for its zero.
double softmax_factor(const at::Tensor& scores, const at::Tensor& classes) {
  double low = 0.1, high = 100;
  const double alike = 1 / (static_cast<double>(classes.size(0)) + 1);
  const at::Tensor shares = classes * (1 - alike) + alike / static_cast<double>(classes.size(1));
  for (int64_t step = 0; step < 50; ++step) {
    const double middle = std::sqrt(low * high);
    const at::Tensor slope = ((scores * middle).softmax(1) - shares).mul(scores).sum();
    (slope.item<double>() < 0 ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

// Returns the offset with which the mean of sigmoid(slope * score + offset) is the share of ones, of labels with one
// more of either kind.
double offset_for_share(double slope, const at::Tensor& score, const at::Tensor& label) {
  const double share = (label.sum().item<double>() + 1) / (static_cast<double>(label.numel()) + 2);
  const at::Tensor scaled = score * slope;
  // Beyond these limits all probabilities are above or below the share.
  double low = -40 - scaled.max().item<double>(), high = 40 - scaled.min().item<double>();
  for (int64_t step = 0; step < 100; ++step) {
    const double middle = 0.5 * (low + high);
    ((scaled + middle).sigmoid().mean().item<double>() < share ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

// Divides targets into those that have one regression: labels that are known for the same rows, and each other one.
std::vector<std::vector<int64_t>> trained_together(const at::Tensor& targets, const std::vector<int64_t>& learnable,
                                                   bool labels) {
  const at::Tensor known = targets.isfinite().t().contiguous();
  std::vector<std::vector<int64_t>> out;
  for (const int64_t t : learnable) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const std::vector<int64_t>& other) {
      return labels && at::equal(known[other.front()], known[t]);
    });
    if (same == out.end()) {
      out.push_back({t});
    } else {
      same->push_back(t);
    }
  }
  return out;
}

// Returns the weights of the rows with known targets, [n, t].
std::optional<at::Tensor> exact_weights(const KernelMatrices& kernels, const Selection& found, const at::Tensor& rows,
                                        const at::Tensor& targets) {
  at::Tensor kernel = kernels.mixed(found.mixture, rows, rows);
  kernel.diagonal().add_(found.ridge());
  return solve_positive(std::move(kernel), targets);
}

// The inputs of all rows, which a kernel to the landmarks is made of.
struct AllRows {
  const at::Tensor &scores, &counts;
  const std::map<std::string, at::Tensor>& state;
};

// Calls take(rows, kernel to the landmarks) for chunks of the rows, and returns its results.
template <class Take>
std::vector<at::Tensor> each_chunk(const KernelMatrices& landmarks, const Selection& found, const at::Tensor& rows,
                                   const AllRows& all, const Take& take) {
  const at::Tensor& some = landmarks.gaussian.defined() ? landmarks.gaussian : landmarks.fingerprints;
  const at::Tensor columns = at::arange(some.size(1), at::kLong);
  std::vector<at::Tensor> out;
  for (const at::Tensor& chunk : rows.split(chunk_rows)) {
    const KernelMatrices here =
        kernels_of(all.scores.index_select(0, chunk), all.counts.index_select(0, chunk), all.state);
    out.push_back(take(chunk, here.mixed(found.mixture, at::arange(chunk.numel(), at::kLong), columns)));
  }
  return out;
}

// Returns the weights of the landmarks with which their predictions fit all rows best, [landmarks, t].
std::optional<at::Tensor> nystroem_weights(const KernelMatrices& landmarks, const Selection& found,
                                           const at::Tensor& rows, const at::Tensor& targets, const AllRows& all) {
  const at::Tensor& some = landmarks.gaussian.defined() ? landmarks.gaussian : landmarks.fingerprints;
  const at::Tensor columns = at::arange(some.size(1), at::kLong);
  at::Tensor matrix = landmarks.mixed(found.mixture, columns, columns).mul_(found.ridge());
  at::Tensor right = at::zeros({columns.numel(), targets.size(1)}, targets.options());
  each_chunk(landmarks, found, rows, all, [&](const at::Tensor& chunk, const at::Tensor& between) {
    matrix.addmm_(between.t(), between);
    right.addmm_(between.t(), targets.index_select(0, chunk));
    return at::Tensor();
  });
  return solve_positive(std::move(matrix), right);
}

// Throws c10::Error for tensors of other types or sizes than those of a regression, as in a damaged file.
void check_state(std::map<std::string, at::Tensor>& state) {
  const auto require = [](bool right, const char* name) {
    TORCH_CHECK(right, "the state of a kernel ridge regression has a wrong ", name);
  };
  const std::tuple<const char*, at::ScalarType, int64_t> forms[] = {
      {"knot_values", at::kDouble, 1}, {"knot_scores", at::kDouble, 1}, {"knot_ptr", at::kLong, 1},
      {"scores", at::kFloat, 2},       {"counts", at::kByte, 2},        {"bits", at::kLong, 0},
      {"logarithms", at::kLong, 0},    {"gaussian", at::kDouble, 0},    {"weights", at::kDouble, 2},
      {"mixture", at::kDouble, 2},     {"ridge", at::kDouble, 1},       {"slope", at::kDouble, 1},
      {"offset", at::kDouble, 1}};
  for (const auto& [name, type, dims] : forms) {
    at::Tensor& tensor = state.at(name);
    // Wide counts are int16.
    const bool short_counts = tensor.scalar_type() == at::kShort && std::string_view(name) == "counts";
    require((tensor.scalar_type() == type || short_counts) && tensor.dim() == dims, name);
    tensor = tensor.contiguous();
  }
  const at::Tensor &ptr = state.at("knot_ptr"), &scores = state.at("scores"), &counts = state.at("counts");
  const int64_t knots = state.at("knot_values").numel(), rows = scores.size(0), targets = state.at("weights").size(1);
  require(state.at("knot_scores").numel() == knots, "knot_scores");
  require(ptr.numel() == scores.size(1) + 1 && ptr[0].item<int64_t>() == 0 && ptr[-1].item<int64_t>() == knots,
          "knot_ptr");
  // A column has no knots, or two and more.
  const at::Tensor lengths = ptr.diff();
  require(lengths.ge(0).logical_and(lengths.ne(1)).all().item<bool>(), "knot_ptr");
  const auto bits = state.at("bits").item<int64_t>();
  require(bits > 0 && counts.size(1) % bits == 0, "bits");
  require(counts.size(0) == rows, "counts");
  require(state.at("weights").size(0) == rows, "weights");
  require(state.at("mixture").size(0) == 3 && state.at("mixture").size(1) == targets, "mixture");
  for (const char* name : {"ridge", "slope", "offset"}) require(state.at(name).numel() == targets, name);
}

}  // namespace

std::vector<at::Tensor> left_out_parts(const at::Tensor& groups) {
  TORCH_CHECK(groups.dim() == 1 && groups.scalar_type() == at::kLong, "groups must be int64 [n], got ",
              groups.scalar_type(), " ", groups.sizes());
  const int64_t rows = groups.size(0);
  const auto [ids, place, count] = at::_unique2(groups, true, true, true);
  const at::Tensor large = (count * large_group > rows).index_select(0, place);
  const at::Tensor divided = at::where(large, ids.numel() + at::arange(rows, at::kLong), place);
  const auto [all, unit, size] = at::_unique2(divided, true, true, true);
  const at::Tensor order = std::get<1>(size.sort(/*stable=*/true, 0, /*descending=*/true));
  std::array<int64_t, part_count> sizes = {};
  at::Tensor part_of_unit = at::zeros_like(all);
  for (int64_t i = 0; i < order.numel(); ++i) {
    auto* const smallest = std::min_element(sizes.begin(), sizes.end());
    const int64_t found = order[i].item<int64_t>();
    *smallest += size[found].item<int64_t>();
    part_of_unit[found] = smallest - sizes.begin();
  }
  const at::Tensor part = part_of_unit.index_select(0, unit);
  std::vector<at::Tensor> parts;
  for (int64_t i = 0; i < part_count; ++i) parts.push_back((part == i).nonzero().flatten());
  return parts;
}

at::Tensor min_max_kernel(const at::Tensor& a, const at::Tensor& b, int64_t bits, bool logarithms) {
  TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(1) && bits > 0 && a.size(1) % bits == 0,
              "min_max_kernel: a and b must have the same columns, a multiple of ", bits, ", got ", a.sizes(), " and ",
              b.sizes());
  TORCH_CHECK(a.scalar_type() == b.scalar_type() && (a.scalar_type() == at::kByte || a.scalar_type() == at::kShort),
              "min_max_kernel: a and b must be uint8 or int16 alike, got ", a.scalar_type(), " and ", b.scalar_type());
  const int64_t rows = a.size(0), columns = b.size(0), blocks = a.size(1) / bits;
  at::Tensor out = at::zeros({rows, columns}, at::kFloat);
  const auto values = [&](const at::Tensor& counts) {
    const at::Tensor all = counts.to(at::kFloat);
    return logarithms ? all.log1p() : all;
  };
  for (int64_t block = 0; block < blocks; ++block) {
    const at::Tensor left = values(a.narrow(1, block * bits, bits)).contiguous();
    const at::Tensor right = values(b.narrow(1, block * bits, bits)).t().contiguous();
    const at::Tensor left_sum = left.sum(1), right_sum = right.sum(0);
    const float* const from = left.const_data_ptr<float>();
    const float *const other = right.const_data_ptr<float>(), *const from_sum = left_sum.const_data_ptr<float>();
    const float* const other_sum = right_sum.const_data_ptr<float>();
    float* const to = out.data_ptr<float>();
    at::parallel_for(0, rows, 16, [&](int64_t begin, int64_t end) {
      std::vector<float> common(static_cast<size_t>(columns));
      for (int64_t i = begin; i < end; ++i) {
        std::fill(common.begin(), common.end(), 0.0F);
        for (int64_t bit = 0; bit < bits; ++bit) {
          const float count = from[i * bits + bit];
          if (count == 0) continue;
          const float* const each = other + bit * columns;
          for (int64_t j = 0; j < columns; ++j) common[static_cast<size_t>(j)] += std::min(count, each[j]);
        }
        for (int64_t j = 0; j < columns; ++j) {
          const float shared = common[static_cast<size_t>(j)], all = from_sum[i] + other_sum[j] - shared;
          to[i * columns + j] += all > 0 ? shared / all : 1.0F;
        }
      }
    });
  }
  return blocks > 0 ? out.div_(static_cast<double>(blocks)) : out;
}

KernelRidge KernelRidge::fit(const at::Tensor& features, const at::Tensor& targets, const at::Tensor& groups,
                             const KernelRidgeOptions& options) {
  at::NoGradGuard guard;
  const int64_t rows = features.size(0), counted = options.fingerprints * options.fingerprint_bits;
  TORCH_CHECK(features.dim() == 2 && features.size(1) >= counted && features.size(1) > 0,
              "features must be [n, columns] with the ", counted, " columns of the fingerprints, got ",
              features.sizes());
  TORCH_CHECK(targets.dim() == 2 && targets.size(0) == rows && groups.dim() == 1 && groups.size(0) == rows,
              "targets must be [n, t] and groups [n] for ", rows, " rows, got ", targets.sizes(), " and ",
              groups.sizes());
  KernelRidge out;
  std::map<std::string, at::Tensor>& state = out.state_;
  const int64_t described = features.size(1) - counted, count = targets.size(1);
  const at::Tensor descriptors = features.narrow(1, 0, described);
  fit_scores(descriptors, state);
  const at::Tensor scores = descriptor_scores(descriptors, state),
                   counts =
                       counts_of(features.narrow(1, described, counted), options.wide_counts ? at::kShort : at::kByte);
  const bool exact = rows <= options.max_exact;
  const at::Tensor kept = exact ? at::arange(rows, at::kLong) : landmark_rows(targets, options);
  state["scores"] = scores.index_select(0, kept);
  state["counts"] = counts.index_select(0, kept);
  state["logarithms"] = at::scalar_tensor(1, at::kLong);
  state["bits"] = at::scalar_tensor(std::max<int64_t>(options.fingerprint_bits, 1), at::kLong);
  const at::Tensor sample = scores.index_select(0, some_rows(rows, 1000, options.seed));
  const double median = squared_row_distances(sample, sample).median().item<double>();
  TORCH_CHECK(!options.gaussian_factors.empty(), "gaussian_factors must have at least one factor");
  const auto take_factor = [&](double factor) {
    state["gaussian"] = at::scalar_tensor(factor / std::max(median, 1e-9), at::kDouble);
  };
  take_factor(options.gaussian_factors.front());
  KernelMatrices kernels = kernels_of(state["scores"], state["counts"], state);

  const at::TensorOptions of_doubles = at::TensorOptions(at::kDouble);
  at::Tensor weights = at::zeros({kept.numel(), count}, of_doubles);
  for (const char* name : {"ridge", "slope", "offset"}) state[name] = at::zeros({count}, of_doubles);
  state["mixture"] = at::zeros({3, count}, of_doubles);
  const at::Tensor of_all = targets.to(at::kDouble);
  at::Tensor scaled = at::zeros_like(of_all), mean = at::zeros({count}, of_doubles), deviation = at::zeros_like(mean);
  std::vector<int64_t> learnable;
  for (int64_t t = 0; t < count; ++t) {
    const at::Tensor target = of_all.select(1, t), values = target.masked_select(target.isfinite());
    if (values.numel() > 0) {
      mean[t] = values.mean();
      deviation[t] = values.std(0, /*unbiased=*/false);
    }
    // Scores of classes are compared with each other.
    if (options.classes && deviation[t].item<double>() > 0) deviation[t] = 1.0;
    state["offset"][t] = options.labels ? log_odds(values) : mean[t].item<double>();
    if (deviation[t].item<double>() < 1e-12) continue;  // nothing to learn
    scaled.select(1, t).copy_((target - mean[t]) / deviation[t]);
    if (target.index_select(0, kept).isfinite().any().item<bool>()) learnable.push_back(t);
  }
  const std::vector<Mixture> possible = all_mixtures(kernels.gaussian.defined(), kernels.fingerprints.defined());
  at::Tensor each, of_kept, known, chosen;  // of the targets of one regression
  const auto take_targets = [&](const std::vector<int64_t>& together) {
    each = scaled.index_select(1, at::tensor(together, at::kLong));
    of_kept = each.index_select(0, kept);
    known = of_kept.select(1, 0).isfinite().nonzero().flatten();
  };
  const auto choose_rows = [&](int64_t max_rows) {
    chosen = known.index_select(0, some_rows(known.numel(), max_rows, options.seed));
    return left_out_parts(groups.index_select(0, kept).index_select(0, chosen));
  };
  const auto select_with = [&](int64_t max_rows, const std::vector<Mixture>& mixtures, int64_t start) {
    const std::vector<at::Tensor> parts = choose_rows(max_rows);
    return select(mixtures, start, kernels, chosen, of_kept.index_select(0, chosen), parts);
  };
  const std::vector<std::vector<int64_t>> regressions =
      trained_together(of_all, learnable, options.labels || options.classes);
  const std::optional<Selection> shared = [&]() -> std::optional<Selection> {
    if (static_cast<int64_t>(regressions.size()) <= options.own_choices) return std::nullopt;
    const size_t some = std::min(deciding, regressions.size());
    std::vector<double> errors(possible.size(), 0.0), ridges(possible.size(), 0.0);
    for (size_t i = 0; i < some; ++i) {
      take_targets(regressions[i * regressions.size() / some]);
      for (size_t mixture = 0; mixture < possible.size(); ++mixture) {
        const Selection found = select_with(options.selection_rows, {possible[mixture]}, Selection().place);
        errors[mixture] += found.error;
        ridges[mixture] += static_cast<double>(found.place) / static_cast<double>(some);
      }
    }
    const auto best = static_cast<size_t>(std::min_element(errors.begin(), errors.end()) - errors.begin());
    return Selection{possible[best], std::llround(ridges[best]), 0.0, {}};
  }();
  std::vector<double> more_factors;  // until the first target has chosen one
  if (kernels.gaussian.defined() && !shared) {
    more_factors.assign(options.gaussian_factors.begin() + 1, options.gaussian_factors.end());
  }
  for (const std::vector<int64_t>& together : regressions) {
    take_targets(together);
    const at::Tensor places = at::tensor(together, at::kLong),
                     learnt = each.select(1, 0).isfinite().nonzero().flatten();
    Selection found;
    if (shared) {
      const std::vector<at::Tensor> parts = choose_rows(options.selection_rows);
      found = with_choice(shared->mixture, shared->place, kernels.mixed(shared->mixture, chosen, chosen),
                          of_kept.index_select(0, chosen), parts);
    } else {
      found = select_with(options.selection_rows, possible, Selection().place);
    }
    for (const double factor : std::exchange(more_factors, {})) {
      const at::Tensor previous = kernels.gaussian, exponent = state["gaussian"];
      take_factor(factor);
      kernels.gaussian = gaussian_kernel(state["scores"], state);
      const Selection other = select_with(options.selection_rows, possible, Selection().place);
      if (other.error < found.error) {
        found = other;
      } else {
        kernels.gaussian = previous;
        state["gaussian"] = exponent;
      }
    }
    if (!shared && known.numel() > options.selection_rows && found.predicted.defined()) {
      found = select_with(options.ridge_rows, {found.mixture}, found.place);
    }
    if (!found.predicted.defined()) continue;
    const std::optional<at::Tensor> solution =
        exact ? exact_weights(kernels, found, known, of_kept.index_select(0, known))
              : nystroem_weights(kernels, found, learnt, each, {scores, counts, state});
    TORCH_CHECK(solution, "the kernel of target ", together.front(), " cannot be factorised");
    weights.index_put_({exact ? known.unsqueeze(1) : at::arange(kept.numel(), at::kLong).unsqueeze(1), places},
                       *solution);
    // Landmarks have more rare labels than all rows, of which these scores are.
    const at::Tensor fitted = !exact && options.labels
                                  ? at::cat(each_chunk(kernels, found, learnt, {scores, counts, state},
                                                       [&](const at::Tensor&, const at::Tensor& between) {
                                                         return between.matmul(*solution);
                                                       }))
                                  : at::Tensor();
    double factor = 1;
    if (options.classes) {
      const at::Tensor seen = of_all.index_select(0, kept).index_select(0, chosen).index_select(1, places);
      factor = softmax_factor(found.predicted + mean.index_select(0, places), seen);
    }
    for (size_t i = 0; i < together.size(); ++i) {
      const int64_t t = together[i], column = static_cast<int64_t>(i);
      state["mixture"].select(1, t).copy_(
          at::tensor({found.mixture.gaussian, found.mixture.linear, found.mixture.fingerprints}, at::kDouble));
      state["ridge"][t] = found.ridge();
      double slope = factor * deviation[t].item<double>(), offset = factor * mean[t].item<double>();
      if (options.labels) {
        const at::Tensor values = of_all.select(1, t).index_select(0, learnt);
        const at::Tensor seen = of_all.select(1, t).index_select(0, kept).index_select(0, chosen);
        std::tie(slope, offset) = logistic_fit(found.predicted.select(1, column), seen);
        // The rows that were chosen may have another share of ones than all.
        if (exact) offset += log_odds(values) - log_odds(seen);
        if (!exact) offset = offset_for_share(slope, fitted.select(1, column), values);
      }
      state["slope"][t] = slope;
      state["offset"][t] = offset;
    }
  }
  state["weights"] = weights;
  return out;
}

at::Tensor KernelRidge::predict(const at::Tensor& features) const {
  at::NoGradGuard guard;
  TORCH_CHECK(features.dim() == 2 && features.size(1) == columns(), "features must have ", columns(), " columns, got ",
              features.sizes());
  const int64_t described = state_.at("scores").size(1), counted = state_.at("counts").size(1);
  const at::Tensor& weights = state_.at("weights");
  std::vector<at::Tensor> parts = {at::zeros({0, targets()}, weights.options())};
  for (int64_t begin = 0; begin < features.size(0); begin += chunk_rows) {
    const at::Tensor some = features.slice(0, begin, begin + chunk_rows).cpu();
    const KernelMatrices kernels =
        kernels_of(descriptor_scores(some.narrow(1, 0, described), state_),
                   counts_of(some.narrow(1, described, counted), state_.at("counts").scalar_type()), state_);
    at::Tensor sum = at::zeros({some.size(0), targets()}, weights.options());
    int64_t row = 0;
    for (const at::Tensor* kernel : {&kernels.gaussian, &kernels.linear, &kernels.fingerprints}) {
      const at::Tensor share = mixture()[row++];
      if (kernel->defined()) sum.add_(kernel->to(at::kDouble).matmul(weights * share));
    }
    parts.push_back(sum * state_.at("slope") + state_.at("offset"));
  }
  return at::cat(parts);
}

KernelRidge KernelRidge::from_state(std::map<std::string, at::Tensor> state) {
  for (const char* name : {"knot_values", "knot_scores", "knot_ptr", "scores", "counts", "bits", "gaussian", "weights",
                           "mixture", "ridge", "slope", "offset"}) {
    TORCH_CHECK(state.contains(name), "the state of a kernel ridge regression lacks ", name);
  }
  state.emplace("logarithms", at::scalar_tensor(0, at::kLong));  // checkpoints before it have kernels of counts
  check_state(state);
  KernelRidge out;
  out.state_ = std::move(state);
  return out;
}

int64_t KernelRidge::columns() const {
  return state_.at("scores").size(1) + state_.at("counts").size(1);
}

int64_t KernelRidge::targets() const {
  return state_.at("weights").size(1);
}

}  // namespace geosft
