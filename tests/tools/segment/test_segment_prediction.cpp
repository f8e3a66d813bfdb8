// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_prediction.h"

#include <catch2/catch.hpp>

#include "tests/data/points/utm_chair.h"
#include "tests/tools/segment/small_segmenter.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_segment_prediction {
namespace {

// Points and normals as text, in this order.
std::string cloud_text(const at::Tensor& points, const at::Tensor& normals) {
  std::string text;
  const at::Tensor rows = at::cat({points, normals}, 1).to(at::kDouble).contiguous();
  for (int64_t i = 0; i < rows.size(0); ++i) {
    for (int64_t j = 0; j < rows.size(1); ++j) text += (j > 0 ? " " : "") + std::to_string(rows[i][j].item<double>());
    text += "\n";
  }
  return text;
}

struct Example {
  TemporaryFolder folder;
  PartClouds clouds{1, 60, 9};
  SegmentSettings settings = small_segment_settings();

  Example() { write_text(folder / "a.xyz", cloud_text(clouds.points[0], clouds.normals[0])); }
  PartPrediction predict(const std::string& file, const std::string& category,
                         BlockKind kind = BlockKind::spread) const {
    SegmentRun trained = small_segment_run(settings);
    return predict_parts(trained, folder / file, category, kind);
  }
};

}  // namespace

TEST_CASE("every point of a file gets a part of the class, in the order of the file, in blocks or not") {
  Example example;
  const at::Tensor rows = at::randperm(60, generator(2));
  write_text(example.folder / "b.xyz", cloud_text(example.clouds.points[0].index_select(0, rows),
                                                  example.clouds.normals[0].index_select(0, rows)));
  for (const int64_t block : {0, 17}) {
    example.settings.clouds.block = block;
    const PartPrediction plain = example.predict("a.xyz", "mug", BlockKind::near);
    CHECK(plain.labels.sizes() == at::IntArrayRef{60});
    CHECK(plain.labels.min().item<int64_t>() >= 3);
    CHECK(plain.warnings.empty());
    require_close(plain.points, example.clouds.points[0], 1e-6, "points");
    require_close(plain.normals, example.clouds.normals[0], 1e-6, "normals");
    // The same points in another order get the same parts: blocks of neighbours are the same blocks.
    require_equal(example.predict("b.xyz", "mug", BlockKind::near).labels, plain.labels.index_select(0, rows),
                  "labels");
  }
  CHECK(example.predict("a.xyz", "lamp").labels.max().item<int64_t>() <= 2);
}

TEST_CASE("a chair in UTM coordinates gets the parts that it has at the origin, in its own coordinates") {
  Example example;
  for (const std::string format : {"ply", "xyz", "pcd", "obj"}) {
    CAPTURE(format);
    write_text(example.folder / ("near/chair." + format), double_cloud_text(format, chair_at_origin(60)));
    write_text(example.folder / ("far/chair." + format), double_cloud_text(format, utm_chair(60)));
    const PartPrediction near = example.predict("near/chair." + format, "mug");
    const PartPrediction far = example.predict("far/chair." + format, "mug");
    require_equal(far.labels, near.labels, "labels");
    if (format != "obj") require_equal(far.points, utm_chair(60), "points");
    if (format != "obj") continue;
    require_equal(far.mesh.vertices, utm_chair(60), "vertices");
    require_equal(far.vertex_labels, near.vertex_labels, "labels of the vertices");
    require_close(far.points - utm_offset(), near.points.to(at::kDouble), 1e-6, "points");
  }
}

TEST_CASE("of a mesh points are sampled, which is said") {
  Example example;
  example.settings.clouds.points_per_mesh = 50;
  write_text(example.folder / "a.obj", tetrahedron_obj);
  const PartPrediction prediction = example.predict("a.obj", "mug");
  CHECK(prediction.labels.sizes() == at::IntArrayRef{50});
  REQUIRE(prediction.warnings.size() == 1);
  CHECK_THAT(prediction.warnings[0], Catch::Contains("a.obj: a mesh, of which 50 points are sampled"));
}

TEST_CASE("labels of the nearest points need points, and a label of each") {
  const at::Tensor points = at::zeros({3, 3}), labels = at::zeros({3}, at::kLong);
  require_error([&] { labels_of_nearest(points, labels.slice(0, 1), points); }, {"labels must have shape [3]", "[2]"});
  require_error([&] { labels_of_nearest(points, points, points); }, {"labels must have shape [3]", "[3, 3]"});
  require_error([&] { labels_of_nearest(points.slice(0, 3), labels.slice(0, 3), points); }, {"points", "n >= 1"});
}

TEST_CASE("a vertex of a mesh has the part of the nearest point") {
  const at::Tensor points = at::tensor({0.0F, 0.0F, 0.0F, 1.0F, 0.0F, 0.0F, 1.0F, 2.0F, 0.0F}).view({3, 3});
  const at::Tensor vertices = at::tensor({1.0, 1.5, 0.0, 0.4, 0.0, 0.0, 0.6, 0.0, 9.0, 1.0, 0.5, 0.0}).view({4, 3});
  for (const double unit : {1.0, 1e30}) {  // whose squares float32 does not hold
    require_equal(labels_of_nearest(points * unit, at::tensor({5, 7, 6}, at::kLong), vertices * unit),
                  at::tensor({6, 5, 7, 7}, at::kLong), "labels");
  }
  Example example;
  write_text(example.folder / "a.obj", tetrahedron_obj);
  const PartPrediction mesh = example.predict("a.obj", "mug");
  CHECK(mesh.mesh.vertices.size(0) == 4);
  CHECK(mesh.mesh.faces.size(0) == 4);
  require_equal(mesh.vertex_labels, labels_of_nearest(mesh.points, mesh.labels, mesh.mesh.vertices), "labels");
  CHECK_FALSE(example.predict("a.xyz", "mug").vertex_labels.defined());
  CHECK_FALSE(mesh.normals.defined());
  write_text(example.folder / "b.obj",
             "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 2\nvn 1 0 0\nf 1//1 3//1 2//1\nf 1//1 2//1 4//2\n"
             "f 1//1 4//2 3//1\nf 2//1 3//1 4//2\n");
  require_close(example.predict("b.obj", "mug").normals,
                at::tensor({0.0F, 0.0F, 1.0F, 0.0F, 0.0F, 1.0F, 0.0F, 0.0F, 1.0F, 1.0F, 0.0F, 0.0F}).view({4, 3}), 1e-6,
                "normals of the vertices");
}

TEST_CASE("a model that is told the class needs a known one, another may be told") {
  Example example;
  require_error([&] { example.predict("a.xyz", ""); }, {"--category is required", "lamp mug"});
  require_error([&] { example.predict("a.xyz", "sofa"); }, {"sofa", "lamp mug"});
  example.settings.model.category = false;
  const at::Tensor any = example.predict("a.xyz", "").labels;
  CHECK(any.max().item<int64_t>() < 5);
  CHECK(example.predict("a.xyz", "mug").labels.min().item<int64_t>() >= 3);
}

TEST_CASE("logits of parts of other classes are impossible, unless the class is not known") {
  Example example;
  SegmentRun trained = small_segment_run(example.settings);
  CHECK(category_of(trained, "mug") == 1);
  std::vector<std::string> warnings;
  const Shape shape = read_prepared(trained, example.folder / "a.xyz", warnings);
  const at::Tensor logits = part_logits(trained, shape, 1, BlockKind::spread);
  CHECK(logits.narrow(1, 0, 3).max().item<double>() < -1e29);
  CHECK(logits.narrow(1, 3, 2).abs().max().item<double>() < 100);
  example.settings.model.category = false;
  SegmentRun untold = small_segment_run(example.settings);
  CHECK(category_of(untold, "") == -1);
  CHECK(part_logits(untold, shape, -1, BlockKind::spread).abs().max().item<double>() < 100);
}

TEST_CASE("a cloud in memory has the parts of its file, and what is no cloud is named") {
  Example example;
  SegmentRun trained = small_segment_run(example.settings);
  const PartPrediction expected = predict_parts(trained, example.folder / "a.xyz", "mug", BlockKind::spread);
  std::vector<std::string> warnings;
  const Shape shape = read_prepared(trained, example.folder / "a.xyz", warnings);
  const at::Tensor points = shape.points, normals = shape.normals;
  const PartPrediction found = predict_parts(trained, points, normals, "mug");
  require_equal(found.labels, expected.labels, "labels");
  require_equal(found.points, points, "points");
  require_equal(found.normals, normals, "normals");
  CHECK(found.warnings.empty());
  CHECK_FALSE(found.mesh.vertices.defined());
  int64_t last = 0, whole = 0;
  predict_parts(trained, points, normals, "mug", BlockKind::spread, [&](int64_t done, int64_t total) {
    CHECK(done > last);
    last = done;
    whole = total;
  });
  CHECK(whole == 60 * example.settings.evaluation.votes);
  CHECK(last == whole);
  CHECK(predict_parts(trained, points.to(at::kDouble), {}, "mug").warnings.size() == 1);
  require_error([&] { predict_parts(trained, points, normals, "sofa"); }, {"sofa", "lamp mug", "argument category"});
  require_error([&] { predict_parts(trained, points.slice(0, 0, 0), {}, "mug"); }, {"points", "at least one row"});
  require_error([&] { predict_parts(trained, points, normals.slice(0, 0, 7), "mug"); }, {"normals", "[60, 3]"});
  const auto refused = [&](const at::Tensor& rows, const at::Tensor& directions, const std::string& word) {
    const Shape given{.points = rows, .normals = directions, .name = ""};
    require_error([&] { part_logits(trained, given, 1, BlockKind::spread); }, {"the cloud: ", word});
  };
  refused(points.slice(0, 0, 0), {}, "at least one row");
  refused(points, normals.slice(0, 0, 7), "[7, 3]");
  refused(points, normals / 0.0, "finite normals");
}

TEST_CASE("a cloud of a dataset has the parts of the same cloud in memory, by its own class") {
  const Example example;
  SegmentRun trained = small_segment_run(example.settings);
  const ArrayDataset shapes = part_dataset();
  for (const int64_t row : {0, 1}) {
    const Shape shape = shapes.get(row);
    const std::string category = small_classes[static_cast<size_t>(row)];
    const PartPrediction found = predict_parts(trained, shape, BlockKind::spread);
    require_equal(found.labels, predict_parts(trained, shape.points, shape.normals, category).labels, "labels");
    require_equal(found.points, shape.points, "points");
    CHECK(found.warnings.empty());
    const PartPrediction estimated = predict_parts(trained, shape, BlockKind::spread, {}, /*estimated_normals=*/true);
    require_equal(estimated.labels, predict_parts(trained, shape.points, {}, category).labels, "labels");
    REQUIRE(estimated.warnings.size() == 1);
    CHECK_THAT(estimated.warnings[0], Catch::StartsWith(shape.name + ": "));
  }
  Shape dropped = shapes.get(0);
  dropped.warnings = {"1 of its points is left out"};
  CHECK(predict_parts(trained, dropped, BlockKind::spread).warnings ==
        std::vector<std::string>{dropped.name + ": 1 of its points is left out"});
  Shape far = shapes.get(1);
  far.offset = at::tensor({5e5, 4e6, 0.0}, at::kDouble);
  require_equal(predict_parts(trained, far, BlockKind::spread).points, file_coordinates(far), "points of the file");
}

TEST_CASE("normals are estimated where the model needs them, meshes are sampled") {
  Example example;
  write_text(example.folder / "bare.xyz", "0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 0\n");
  const PartPrediction bare = example.predict("bare.xyz", "mug");
  CHECK(bare.labels.size(0) == 5);
  CHECK(bare.warnings.size() == 1);
  CHECK_FALSE(bare.normals.defined());
  example.settings.clouds.points_per_mesh = 33;
  write_text(example.folder / "mesh.obj", tetrahedron_obj);
  CHECK(example.predict("mesh.obj", "mug").labels.size(0) == 33);
  example.settings.clouds.normals = false;
  CHECK(example.predict("bare.xyz", "mug").warnings.empty());
  require_error([&] { example.predict("none.xyz", "mug"); }, {"none.xyz"});
}

TEST_CASE("parts of a class have colours of their own, the same in every file") {
  const at::Tensor colours = part_colours(at::tensor({0, 1, 2, 3, 0}, at::kLong), small_parts());
  CHECK(colours.sizes() == at::IntArrayRef({5, 3}));
  require_equal(colours[0], colours[3], "the first part of each class");
  require_equal(colours[0], colours[4], "the same part");
  PartList many;
  for (int i = 0; i < 20; ++i) many.push_back({std::to_string(i), 0});
  const at::Tensor all = part_colours(at::arange(20, at::kLong), many);
  CHECK((at::cdist(all, all) + at::eye(20, at::kDouble)).min().item<double>() > 0.1);
  const at::Tensor grey = part_colours(at::tensor({int64_t{19}, unlabelled_part}, at::kLong), many);
  require_equal(grey[0], all[19], "the last part");
  CHECK((grey[1] == grey[1][0]).all().item<bool>());
  CHECK(at::cdist(all, grey.slice(0, 1)).min().item<double>() > 0.1);
  CHECK(all.min().item<double>() >= 0);
  CHECK(all.max().item<double>() <= 1);
}

}  // namespace geosft::test::test_segment_prediction
