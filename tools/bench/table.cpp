// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace geosft::bench {
namespace {

// Formats with three significant digits, without an exponent.
std::string digits(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) << value;
  return text.str();
}

// Formats as "256" or "18.4".
std::string number(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(value == std::floor(value) ? 0 : 1) << value;
  return text.str();
}

template <size_t count>
std::string in_units(double value, double step, const std::array<const char*, count>& units) {
  size_t unit = 0;
  while (unit + 1 < count && value >= step) {
    value /= step;
    ++unit;
  }
  return digits(value) + " " + units[unit];
}

std::string cell(const std::string& text, int width) {
  std::ostringstream padded;
  padded << std::setw(width) << text;
  return padded.str();
}

std::string label(const std::string& text, int width) {
  std::ostringstream padded;
  padded << std::left << std::setw(width) << text;
  return padded.str();
}

std::string line(const Measurement& one, int width) {
  const Timing& timing = one.timing;
  const std::string quartiles = duration(timing.lower_quartile) + " - " + duration(timing.upper_quartile);
  std::string text = "  " + label(one.implementation, width) + cell(one.keys > 0 ? number(one.keys) : "", 7) +
                     cell(duration(timing.minimum), 10) + cell(duration(timing.median), 10) + cell(quartiles, 22) +
                     cell(duration(timing.cpu), 10) + cell(digits(one.geosft_ratio), 9) +
                     cell(digits(one.geosft_cpu_ratio), 8) + cell(one.bound ? digits(one.share()) : "", 8) +
                     cell(memory(one.peak_bytes), 11);
  if (one.items > 0) text += "   " + digits(one.items / timing.minimum) + " " + one.items_are + "/s";
  return text + "\n";
}

int label_width(const std::vector<Measurement>& measurements) {
  size_t width = 0;
  for (const Measurement& one : measurements) width = std::max(width, one.implementation.size());
  return static_cast<int>(width) + 1;
}

const Measurement* find(const Results& results, const Measurement& like) {
  for (const Measurement& one : results.measurements) {
    if (one.benchmark == like.benchmark && one.implementation == like.implementation) return &one;
  }
  return nullptr;
}

// Lists the measurements of `one` that `other` lacks, in one line.
std::string missing_in(const Results& other, const Results& one, const char* when) {
  std::string names;
  for (const Measurement& measurement : one.measurements) {
    if (find(other, measurement) != nullptr) continue;
    names += (names.empty() ? "" : "; ") + measurement.benchmark + ": " + measurement.implementation;
  }
  return names.empty() ? "" : std::string("only ") + when + ": " + names + "\n";
}

const char* verdict(const Timing& before, const Timing& now) {
  if (now.upper_quartile < before.minimum) return "faster";
  if (before.upper_quartile < now.minimum) return "slower";
  return "within the spread";
}

std::string differences(const Results& before, const Results& now) {
  std::string text;
  const auto note = [&](const char* what, const std::string& then, const std::string& present) {
    if (then != present) text += std::string(what) + ": " + then + " before, " + present + " now\n";
  };
  note("processor", before.machine.processor, now.machine.processor);
  note("vector target", before.machine.simd_target, now.machine.simd_target);
  note("threads", std::to_string(before.machine.threads), std::to_string(now.machine.threads));
  note("allocator", before.machine.allocator, now.machine.allocator);
  note("versions", before.machine.versions, now.machine.versions);
  const auto sizes = [](const Sizes& s) {
    return "batch " + std::to_string(s.batch) + ", tokens " + std::to_string(s.tokens) + ", width " +
           std::to_string(s.width) + ", heads " + std::to_string(s.heads);
  };
  note("sizes", sizes(before.sizes), sizes(now.sizes));
  return text;
}

}  // namespace

std::string duration(double seconds) {
  return in_units(seconds * 1e6, 1e3, std::array{"us", "ms", "s"});
}

std::string memory(int64_t bytes) {
  return in_units(static_cast<double>(bytes) / 1024, 1024, std::array{"KiB", "MiB", "GiB"});
}

std::string table(const std::vector<Measurement>& measurements) {
  const int width = label_width(measurements);
  std::string text =
      "ours/it: our minimum over this one's, below 1 ours is faster; by CPU: the same of processor time; bound: share "
      "of the time that the arithmetic "
      "alone "
      "needs; memory: peak of tensors beyond the inputs; keys: per query of an attention, with padding and masked "
      "ones\n";
  std::string benchmark;
  for (const Measurement& one : measurements) {
    if (one.benchmark != benchmark) {
      benchmark = one.benchmark;
      text += "\n" + benchmark + "\n  " + label("", width) + cell("keys", 7) + cell("minimum", 10) +
              cell("median", 10) + cell("quartiles", 22) + cell("CPU", 10) + cell("ours/it", 9) + cell("by CPU", 8) +
              cell("bound", 8) + cell("memory", 11) + "\n";
    }
    text += line(one, width);
  }
  return text;
}

std::string comparison(const Results& before, const Results& now) {
  std::string text = differences(before, now);
  size_t width = 0;
  for (const Measurement& one : now.measurements)
    width = std::max(width, one.benchmark.size() + one.implementation.size());
  for (const Measurement& one : now.measurements) {
    const Measurement* earlier = find(before, one);
    if (earlier == nullptr) continue;
    text += label(one.benchmark + ": " + one.implementation, static_cast<int>(width) + 3) +
            cell(duration(earlier->timing.minimum), 9) + " ->" + cell(duration(one.timing.minimum), 9) +
            cell("x " + digits(one.timing.minimum / earlier->timing.minimum), 8) + "  " +
            verdict(earlier->timing, one.timing) + "\n";
  }
  return text + missing_in(now, before, "before") + missing_in(before, now, "now");
}

}  // namespace geosft::bench
