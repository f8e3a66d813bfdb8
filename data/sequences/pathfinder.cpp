// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/pathfinder.h"

#include <ATen/CPUGeneratorImpl.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/atomic_file.h"
#include "data/data_error.h"
#include "data/formats/text_lines.h"
#include "data/read_file.h"
#include "data/safe_join.h"
#include "data/seeds.h"
#include "data/sequences/sequence_dataset.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;
using Point = PathfinderPoint;
using Curve = std::vector<Point>;

// In pixels of a 32 x 32 image.
constexpr double period = 2.5, dash_length = 1.6, half_width = 0.4, dot_radius = 1.1, margin = 2.0, apart = 2.5;
constexpr double sharpest_turn = 0.6;  // radians between neighbouring dashes
constexpr double common_side = 32;
constexpr int max_turns = 6, max_starts = 400, max_pictures = 200;
constexpr int64_t file_pictures = 1000;

double distance(const Point& a, const Point& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1]);
}

// Samples the curves of one image, in pixels of a 32 x 32 image.
class CurveDrawer {
 public:
  explicit CurveDrawer(at::Generator& generator) : random_(at::check_generator<at::CPUGeneratorImpl>(generator)) {}

  double share() { return static_cast<double>(random_->random64() >> 11) * 0x1p-53; }
  bool coin() { return (random_->random64() & 1) != 0; }

  // Adds a curve that keeps its distance from the others. Returns false if none was found.
  bool add(int64_t dashes) {
    for (int start = 0; start < max_starts; ++start) {
      Curve curve{{inside(share()), inside(share())}};
      double heading = 2 * std::numbers::pi * share();
      if (!free(curve.front(), curve)) continue;
      while (static_cast<int64_t>(curve.size()) <= dashes && extend(curve, heading)) continue;
      if (static_cast<int64_t>(curve.size()) <= dashes) continue;
      curves_.push_back(std::move(curve));
      return true;
    }
    return false;
  }
  std::vector<Curve>& curves() { return curves_; }

 private:
  static double inside(double share) { return margin + share * (common_side - 2 * margin); }

  bool extend(Curve& curve, double& heading) {
    for (int turn = 0; turn < max_turns; ++turn) {
      const double next = heading + sharpest_turn * (2 * share() - 1);
      const Point end{curve.back()[0] + period * std::cos(next), curve.back()[1] + period * std::sin(next)};
      if (!free(end, curve)) continue;
      heading = next;
      curve.push_back(end);
      return true;
    }
    return false;
  }

  // Returns whether the point is far enough from the border, all other curves, and this curve except its last point.
  bool free(const Point& point, const Curve& curve) const {
    for (const double x : point) {
      if (x < margin || x > common_side - margin) return false;
    }
    const auto far = [&](const Point& other) { return distance(point, other) >= apart; };
    return std::all_of(curves_.begin(), curves_.end(),
                       [&](const Curve& other) { return std::all_of(other.begin(), other.end(), far); }) &&
           (curve.size() < 2 || std::all_of(curve.begin(), curve.end() - 1, far));
  }

  at::CPUGeneratorImpl* random_;
  std::vector<Curve> curves_;
};

double distance_to_dash(const Point& x, const Point& from, const Point& to) {
  const Point along{to[0] - from[0], to[1] - from[1]};
  const double place = ((x[0] - from[0]) * along[0] + (x[1] - from[1]) * along[1]) / (period * period);
  const double share = std::clamp(place, half_width / period, (dash_length - half_width) / period);  // round caps
  return distance(x, {from[0] + share * along[0], from[1] + share * along[1]});
}

// Draws white on black with antialiased edges.
GreyImage rendered(const PathfinderItem& item, int64_t side) {
  GreyImage image{side, side, std::vector<uint8_t>(static_cast<size_t>(side * side))};
  const double pixel = common_side / static_cast<double>(side);
  for (int64_t row = 0; row < side; ++row) {
    for (int64_t column = 0; column < side; ++column) {
      const Point x{(static_cast<double>(column) + 0.5) * pixel, (static_cast<double>(row) + 0.5) * pixel};
      double depth = -common_side;  // depth inside the nearest stroke or dot; negative outside
      for (const Point& dot : item.dots) depth = std::max(depth, dot_radius - distance(x, dot));
      for (const Curve& curve : item.curves) {
        for (size_t j = 0; j + 1 < curve.size(); ++j) {
          depth = std::max(depth, half_width - distance_to_dash(x, curve[j], curve[j + 1]));
        }
      }
      const double covered = std::clamp(0.5 + depth / pixel, 0.0, 1.0);
      image.pixels[static_cast<size_t>(row * side + column)] = static_cast<uint8_t>(std::lround(255 * covered));
    }
  }
  return image;
}

// Returns the metadata files ordered by number.
std::vector<fs::path> metadata_files(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder / "metadata")) return files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "metadata")) {
    if (entry.path().extension() == ".npy") files.push_back(entry.path());
  }
  const auto key = [](const fs::path& file) { return std::pair(file.stem().string().size(), file.stem().string()); };
  std::sort(files.begin(), files.end(), [&](const fs::path& a, const fs::path& b) { return key(a) < key(b); });
  return files;
}

struct Pictures {
  std::vector<uint8_t> pixels;
  std::vector<int64_t> labels;
  int64_t height = 0, width = 0;

  void append(const fs::path& folder, const fs::path& metadata) {
    const std::string text = read_file(metadata);
    // The benchmark's .npy files are text.
    if (text.starts_with("\x93NUMPY")) {
      throw DataError(metadata.string(), "lines of text with a folder, a picture, its number and its label",
                      "an array of NumPy");
    }
    TextLines lines(text, metadata.string());
    while (lines.next()) {
      const std::string place(lines.word()), name(lines.word());
      lines.integer("the number of a picture");
      const int64_t label = lines.integer("a label");
      if (label != 0 && label != 1) lines.fail("the label 0 or 1", std::to_string(label));
      const fs::path file = safe_join(safe_join(folder, place, metadata), name, metadata);
      const GreyImage image = read_png(read_file(file), file.string());
      if (labels.empty()) {
        height = image.height;
        width = image.width;
      } else if (image.height != height || image.width != width) {
        throw DataError(file.string(), std::to_string(height) + " x " + std::to_string(width) + " pixels",
                        std::to_string(image.height) + " x " + std::to_string(image.width));
      }
      pixels.insert(pixels.end(), image.pixels.begin(), image.pixels.end());
      labels.push_back(label);
    }
  }

  // Returns float32 [pixels, 1], from 0 to 1.
  at::Tensor values() const {
    at::Tensor values = at::empty({static_cast<int64_t>(pixels.size()), 1}, at::kFloat);
    const auto share = [](uint8_t grey) { return static_cast<float>(grey) / 255.0F; };
    std::transform(pixels.begin(), pixels.end(), values.mutable_data_ptr<float>(), share);
    return values;
  }
};

}  // namespace

PathfinderItem generate_pathfinder(const PathfinderOptions& options, bool connected, at::Generator& generator) {
  TORCH_CHECK(options.side >= 8 && options.dashes >= 1 && options.distractors >= 0 && options.distractor_dashes >= 1,
              "options must have side >= 8, dashes >= 1, distractors >= 0 and distractor_dashes >= 1, got ",
              options.side, ", ", options.dashes, ", ", options.distractors, " and ", options.distractor_dashes);
  for (int tries = 0; tries < max_pictures; ++tries) {
    CurveDrawer drawer(generator);
    bool placed = drawer.add(options.dashes) && drawer.add(options.dashes);
    for (int64_t n = 0; n < options.distractors && placed; ++n) placed = drawer.add(options.distractor_dashes);
    if (!placed) continue;
    PathfinderItem item{{}, connected, std::move(drawer.curves()), {}};
    const Curve &first = item.curves[0], &second = item.curves[1];
    const bool front = drawer.coin(), other = connected ? !front : drawer.coin();
    item.dots[0] = front ? first.front() : first.back();
    const Curve& ending = connected ? first : second;
    item.dots[1] = other ? ending.front() : ending.back();
    item.image = rendered(item, options.side);
    return item;
  }
  TORCH_CHECK(false, "no place for two curves of ", options.dashes, " dashes and ", options.distractors, " of ",
              options.distractor_dashes);
}

void write_pathfinder(const fs::path& folder, const PathfinderOptions& options, int64_t count, uint64_t seed) {
  fs::create_directories(folder / "metadata");
  std::string lines;
  for (int64_t i = 0; i < count; ++i) {
    at::Generator generator = make_generator(combine_seeds({seed, static_cast<uint64_t>(i)}));
    const std::string number = std::to_string(i / file_pictures), place = "imgs/" + number,
                      name = "sample_" + std::to_string(i) + ".png";
    const bool connected = i % 2 == 1;
    if (i % file_pictures == 0) fs::create_directories(folder / place);
    write_file_atomically(folder / place / name, png_bytes(generate_pathfinder(options, connected, generator).image));
    lines += c10::str(place, " ", name, " ", i, connected ? " 1\n" : " 0\n");
    if (i + 1 < count && (i + 1) % file_pictures != 0) continue;
    write_file_atomically(folder / "metadata" / (number + ".npy"), lines);
    lines.clear();
  }
}

bool is_pathfinder(const fs::path& folder) {
  return !metadata_files(folder).empty();
}

PackedItems read_pathfinder(const fs::path& folder) {
  Pictures pictures;
  for (const fs::path& file : metadata_files(folder)) pictures.append(folder, file);
  const auto count = static_cast<int64_t>(pictures.labels.size());
  if (count == 0) throw DataError(folder.string(), "pictures named in metadata/*.npy", "none");
  PackedItems packed = packed_sequences(at::arange(count + 1, at::kLong) * (pictures.height * pictures.width),
                                        at::tensor(pictures.labels, at::kLong), {"apart", "connected"});
  packed.node_values = pictures.values();
  packed.schema.node_values = 1;
  packed.schema.grid_height = pictures.height;
  packed.schema.grid_width = pictures.width;
  const int64_t training = count * 8 / 10, validation = count * 9 / 10;
  packed.split = DatasetSplit{item_range(0, training), item_range(training, validation), item_range(validation, count)};
  check_packed_items(packed, folder.string());
  return packed;
}

}  // namespace geosft
