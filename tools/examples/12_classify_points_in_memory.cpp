// SPDX-License-Identifier: Apache-2.0
// A cloud in memory, as PCL, Eigen and ROS have it, its class and the time that a call took:
// 12_classify_points_in_memory RUN [VOTES [POINTS]]. at::from_blob makes no copy: the memory must live as long as the
// tensor. Exits with 1 if the layouts have different classes.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/classify/prediction.h"

namespace {

// The layout of pcl::PointXYZ: 16 bytes, of which the last four are padding. With a pcl::PointCloud<pcl::PointXYZ>,
// pass cloud.points.data() and cloud.size().
struct PaddedPoint {
  float x, y, z, padding;
};
at::Tensor from_pcl(PaddedPoint* points, int64_t count) {
  return at::from_blob(points, {count, 3}, {4, 1}, at::kFloat);
}

// Eigen::Matrix3Xf stores column by column, so that its memory is that of [n, 3]; pass matrix.data() and matrix.cols().
at::Tensor from_eigen(float* columns, int64_t count) {
  return at::from_blob(columns, {count, 3}, at::kFloat);
}

// sensor_msgs::PointCloud2 with x, y and z as float32 at the offsets 0, 4 and 8; pass message.data.data(), its width
// times its height, and its point_step, which need not be a multiple of 4. Makes a copy, which the callback's message
// need not outlive: contiguous() would make none where a point has these 12 bytes alone.
at::Tensor from_ros(uint8_t* bytes, int64_t count, int64_t point_step) {
  return at::from_blob(bytes, {count, point_step}, at::kByte)
      .slice(1, 0, 12)
      .clone(at::MemoryFormat::Contiguous)
      .view(at::kFloat);
}

// Returns an argument that is a positive number.
int positive(const std::string& text, const char* name) try {
  size_t end = 0;
  const int value = std::stoi(text, &end);
  if (value < 1 || end != text.size()) throw std::out_of_range(text);
  return value;
} catch (const std::logic_error&) {  // of std::stoi, too
  throw std::runtime_error(std::string(name) + " must be a number from 1 on, got '" + text + "'");
}

// A scan of an ellipsoid, with one point that the sensor did not see.
std::vector<PaddedPoint> scan(int count) {
  std::vector<PaddedPoint> points;
  for (int i = 0; i < count; ++i) {
    const float height = 1.0F - (2.0F * static_cast<float>(i) + 1.0F) / static_cast<float>(count),
                around = 2.4F * static_cast<float>(i);
    const float radius = std::sqrt(1.0F - height * height);
    points.push_back({radius * std::cos(around), 0.5F * radius * std::sin(around), height, 1.0F});
  }
  points.push_back({NAN, NAN, NAN, 1.0F});
  return points;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) throw std::invalid_argument("usage: 12_classify_points_in_memory RUN|NAME [VOTES [POINTS]]");
  geosft::RunModel run = geosft::load_run_model(argv[1]);  // once; threads may share it
  // Logits are averaged over so many random subsets of the points and samples (10 by default): 1 is fastest.
  if (argc > 2) run.settings.evaluation.votes = positive(argv[2], "VOTES");

  std::vector<PaddedPoint> padded = scan(argc > 3 ? positive(argv[3], "POINTS") : 500);
  const auto count = static_cast<int64_t>(padded.size());
  std::vector<float> columns;
  constexpr size_t point_step = 18;  // x, y, z, and six bytes of other fields
  std::vector<uint8_t> message(padded.size() * point_step);
  for (size_t i = 0; i < padded.size(); ++i) {
    columns.insert(columns.end(), {padded[i].x, padded[i].y, padded[i].z});
    std::memcpy(message.data() + i * point_step, &padded[i], 12);
  }

  std::string first;
  for (at::Tensor points : {from_pcl(padded.data(), count), from_eigen(columns.data(), count),
                            from_ros(message.data(), count, static_cast<int64_t>(point_step))}) {
    points = points.index({points.isfinite().all(1)});  // leaves out what the sensor did not see
    // Estimates the normals; geosft::predict(run, points, normals) takes those [n, 3] of the same points.
    const auto begin = std::chrono::steady_clock::now();
    const geosft::Prediction found = geosft::predict(run, points);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    for (const std::string& warning : found.warnings) std::cerr << warning << "\n";
    const auto [label, probability] = found.ranking.at(0);
    std::cout << points.size(0) << " points: " << run.class_names.at(label) << " (" << probability << "), "
              << time.count() << " ms\n";
    if (first.empty()) first = run.class_names.at(label);
    if (run.class_names.at(label) != first) throw std::runtime_error("the same points have two classes");
  }
} catch (const c10::Error& error) {
  std::cerr << error.what_without_backtrace() << "\n";
  return 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
