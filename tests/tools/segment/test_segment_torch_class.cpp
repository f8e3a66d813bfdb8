// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/tools/experiment/served.h"
#include "tests/tools/segment/small_segmenter.h"
#include "tools/segment/segment_prediction.h"

namespace geosft::test::test_segment_torch_class {
namespace {

struct ServedRun {
  ServedRun() {
    const SegmentSettings settings = small_segment_settings();
    write_run(run, describe_run<Segmentation>(settings, {{small_classes}, small_parts()}), *small_segmenter(settings));
    write_text(cloud, "0 0 0 0 0 1\n1 0 0 0 0 1\n0 1 0 0 1 0\n0 0 1 1 0 0\n1 1 1 1 0 0\n");
  }

  TemporaryFolder folder;
  std::string run = (folder / "run").string(), cloud = (folder / "cloud.xyz").string();
};

}  // namespace

TEST_CASE("a RUN of parts is served by its names and the parts of a file") {
  const ServedRun made;
  const Served served("Segmenter", made.run);
  CHECK(served.names("class_names") == small_classes);
  CHECK(served.names("part_names") ==
        std::vector<std::string>{"lamp/top", "lamp/pole", "lamp/foot", "mug/cup", "mug/base"});
  SegmentRun run = load_segment_run(made.run);
  const PartPrediction expected = predict_parts(run, made.cloud, "mug", BlockKind::spread);
  const at::IValue served_file = served.call("predict_file", {made.cloud, "mug"});
  const auto& found = served_file.toTupleRef().elements();
  require_equal(found[0].toTensor(), expected.points, "points");
  require_equal(found[1].toTensor(), expected.labels, "parts");
}

TEST_CASE("a cloud that is handed over has probabilities, those of parts of other classes 0") {
  const ServedRun made;
  const Served served("Segmenter", made.run);
  SegmentRun run = load_segment_run(made.run);
  std::vector<std::string> warnings;
  const Shape shape = read_prepared(run, made.cloud, warnings);
  const at::Tensor found = served.call("predict", {shape.points, shape.normals, "mug"}).toTensor();
  REQUIRE(found.sizes() == at::IntArrayRef{5, 5});
  require_close(found.sum(1), at::ones({5}), 1e-5, "sum");
  CHECK(found.slice(1, 0, 3).max().item<double>() == 0);
  require_equal(found.argmax(1), predict_parts(run, made.cloud, "mug", BlockKind::spread).labels, "parts");
}

TEST_CASE("a copy of a served RUN of parts gives the same parts without its folder") {
  const ServedRun made;
  const Served served("Segmenter", made.run);
  const at::IValue expected = served.call("predict_file", {made.cloud, "mug"});
  std::filesystem::remove_all(made.run);
  const Served copy = served.copy();
  REQUIRE(copy.names("part_names") == served.names("part_names"));
  const at::IValue found = copy.call("predict_file", {made.cloud, "mug"});
  require_equal(found.toTupleRef().elements()[1].toTensor(), expected.toTupleRef().elements()[1].toTensor(), "parts");
}

TEST_CASE("what cannot be segmented is named") {
  const ServedRun made;
  const Served served("Segmenter", made.run);
  const at::Tensor points = at::randn({8, 3}, generator(1));
  require_error([&] { served.call("predict", {points, at::IValue(), "chair"}); }, {"chair", "lamp", "mug"});
  require_error([&] { served.call("predict", {points, points.slice(0, 0, 3), "mug"}); }, {"normals"});
  require_error([&] { served.call("predict_file", {made.run + "/none.off", "mug"}); }, {"none.off"});
  require_error([&] { Served("Segmenter", made.run + "/nowhere"); }, {"nowhere"});
}

}  // namespace geosft::test::test_segment_torch_class
