// SPDX-License-Identifier: Apache-2.0
// Computes the table of monomials (MonomialTable) on the device: the host copies nothing, so a call can be captured in
// a CUDA graph. A thread derives the channels of its monomial from its index, with one division per step and as many
// steps as channels and degree together.
#pragma once

#include "geometry/cuda/element_kernel.cuh"
#include "models/ops/cuda/polynomial_arrays.h"

namespace geosft::cuda {

// Monomials of one degree are non-decreasing lists of channels in lexicographic order. The walk along such a list knows
// how many lists continue with the current channel: binomial(variables + rest - 1, rest), with `variables` channels
// left and `rest` list entries after this one.
class ChannelWalk {
 public:
  GEOSFT_DEVICE ChannelWalk(int64_t channels, int64_t length)
      : channels_(channels), variables_(channels), rest_(length - 1), lists_(1) {
    for (int64_t t = 1; t <= rest_; ++t) lists_ = lists_ * (variables_ + t - 1) / t;
  }

  GEOSFT_DEVICE int64_t channel() const { return channels_ - variables_; }
  GEOSFT_DEVICE int64_t lists() const { return lists_; }
  GEOSFT_DEVICE void skip() {
    const int64_t divisor = variables_ + rest_ - 1;
    lists_ = divisor > 0 ? lists_ * (variables_ - 1) / divisor : 0;
    --variables_;
  }
  GEOSFT_DEVICE void take() {
    if (rest_ > 0) lists_ = lists_ * rest_ / (variables_ + rest_ - 1);
    --rest_;
  }

 private:
  int64_t channels_, variables_, rest_, lists_;
};

// Index of a list among all monomials, built channel by channel.
class ListNumber {
 public:
  GEOSFT_DEVICE ListNumber(int64_t channels, int64_t length) : walk_(channels, length), number_(length > 0 ? 1 : 0) {
    // Counts the monomials of lower degree: binomial(channels + length - 1, length - 1).
    for (int64_t t = 1; t < length; ++t) number_ = number_ * (channels + t) / t;
  }
  GEOSFT_DEVICE void take(int64_t channel) {
    while (walk_.channel() < channel) {
      number_ += walk_.lists();
      walk_.skip();
    }
    walk_.take();
  }
  GEOSFT_DEVICE int64_t get() const { return number_; }

 private:
  ChannelWalk walk_;
  int64_t number_;
};

template <typename T>
struct MonomialTableCall {
  MonomialTable<T> table;

  GEOSFT_HOST_DEVICE int64_t elements() const { return table.count; }
  GEOSFT_DEVICE void compute(int64_t monomial) const { describe(table, monomial); }

 private:
  // A monomial's degree, and its index among those of that degree.
  struct Place {
    int64_t degree, place;
  };
  GEOSFT_DEVICE static Place place_of(int64_t channels, int64_t monomial) {
    Place found{0, monomial};
    for (int64_t count = 1; found.place >= count; ++found.degree) {
      found.place -= count;
      count = count * (channels + found.degree) / (found.degree + 1);
    }
    return found;
  }

  GEOSFT_DEVICE static void describe(const MonomialTable<T>& table, int64_t monomial) {
    const Place at = place_of(table.c, monomial);
    const int64_t split = at.degree > table.table_degree ? at.degree - table.table_degree : 0;
    uint8_t* const factor = table.factor + monomial * table.factors;
    for (int f = 0; f < table.factors; ++f) factor[f] = 0;
    ChannelWalk walk(table.c, at.degree);
    ListNumber piece(table.c, 0), rest(table.c, at.degree - 1);
    int64_t left = at.place, before = -1, power = 0, first = 0;
    double weight = 1;
    for (int64_t k = 0; k < at.degree; ++k, walk.take()) {
      for (; left >= walk.lists(); walk.skip()) left -= walk.lists();
      const int64_t channel = walk.channel();
      power = channel == before ? power + 1 : 1;
      before = channel;
      weight /= static_cast<double>(power);
      if (k == 0) first = channel;
      if (k > 0) rest.take(channel);
      if (k < split ? k % table.table_degree == 0 : k == split) piece = begin_piece(table, at.degree, split, k);
      piece.take(channel);
      factor[k < split ? k / table.table_degree : table.factors - 1] = static_cast<uint8_t>(piece.get());
    }
    table.weight[monomial] = static_cast<T>(weight);
    if (monomial >= table.entries) return;
    table.recipe[2 * monomial] = static_cast<uint8_t>(1 + first);
    table.recipe[2 * monomial + 1] = static_cast<uint8_t>(rest.get());
  }

  // Begins the factor whose first channel is at place k of the list.
  GEOSFT_DEVICE static ListNumber begin_piece(const MonomialTable<T>& table, int64_t degree, int64_t split, int64_t k) {
    if (k >= split) return ListNumber(table.c, degree - split);
    return ListNumber(table.c, split - k < table.table_degree ? split - k : table.table_degree);
  }
};

}  // namespace geosft::cuda
