// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/segmentation.h"

#include <catch2/catch.hpp>

#include "geometry/canonical_pose.h"
#include "geometry/normalize.h"
#include "models/training/training_loop.h"
#include "tests/data/files.h"
#include "tests/tools/experiment/captured_stderr.h"
#include "tests/tools/segment/small_segmenter.h"

namespace geosft::test::test_segmentation {
namespace {

PackedClouds two_clouds() {
  const PartClouds clouds(2, 60, 7);
  return {clouds.points.flatten(0, 1), clouds.normals.flatten(0, 1), at::tensor({0, 60, 120}, at::kLong),
          clouds.labels};
}

Checkpoint saved(const SegmentSettings& settings) {
  Checkpoint checkpoint{{}, describe_run<Segmentation>(settings, {{small_classes}, small_parts()}).texts()};
  for (const auto& [name, tensor] : module_state(*small_segmenter(settings))) {
    checkpoint.tensors.emplace("model." + name, tensor);
  }
  return checkpoint;
}

}  // namespace

TEST_CASE("whole clouds are normalised and labelled as the model does it") {
  const SegmentSettings settings = small_segment_settings();
  PointSegmenter model = small_segmenter(settings);
  const PackedClouds clouds = two_clouds();
  const CloudLogits found = segment_clouds(model, settings, clouds, BlockKind::spread);
  model->eval();
  SamplingContext context = SamplingContext::seeded();
  const at::NoGradGuard guard;
  const at::Tensor unit = normalize(clouds.points.to(at::kDouble), clouds.ptr).points;
  const PosedClouds posed = canonical_pose(unit, clouds.normals, clouds.ptr);
  const at::Tensor points = posed.points.to(at::kFloat), normals = posed.normals.to(at::kFloat);
  require_equal(found.logits, model->forward(points, normals, clouds.ptr, clouds.category, context), "logits");
  CHECK(found.choices.sizes() == at::IntArrayRef{120});
}

TEST_CASE("logits of blocks lie where their points lie, however many are seen at a time") {
  SegmentSettings settings = small_segment_settings();
  PointSegmenter model = small_segmenter(settings);
  const PackedClouds clouds = two_clouds();
  settings.clouds.block = 25;
  std::vector<int64_t> done;
  const CloudLogits blocks =
      segment_clouds(model, settings, clouds, BlockKind::near, [&](int64_t points) { done.push_back(points); });
  CHECK(done == std::vector<int64_t>{80, 120});
  settings.evaluation.evaluation_batch = 1;
  require_close(segment_clouds(model, settings, clouds, BlockKind::near).logits, blocks.logits, 1e-5, "one by one");
  // One block as a cloud of its own.
  const Blocks cut = make_blocks(clouds.points, clouds.ptr, 25, BlockKind::near, 0);
  const at::Tensor rows = cut.rows.slice(0, 0, cut.ptr[1].item<int64_t>());
  settings.clouds.block = 0;
  const PackedClouds alone{clouds.points.index_select(0, rows), clouds.normals.index_select(0, rows),
                           at::tensor({int64_t{0}, rows.size(0)}, at::kLong), clouds.category.slice(0, 0, 1)};
  require_close(segment_clouds(model, settings, alone, BlockKind::near).logits, blocks.logits.index_select(0, rows),
                1e-5, "a block");
}

TEST_CASE("votes are averaged, each with blocks and samples of its own") {
  SegmentSettings settings = small_segment_settings();
  PointSegmenter model = small_segmenter(settings);
  settings.clouds.block = 20;
  const at::Tensor one = segment_clouds(model, settings, two_clouds(), BlockKind::spread).logits;
  settings.evaluation.votes = 2;
  std::vector<int64_t> done;
  const CloudLogits two =
      segment_clouds(model, settings, two_clouds(), BlockKind::spread, [&](int64_t points) { done.push_back(points); });
  CHECK(done.back() == 240);
  CHECK_FALSE(at::allclose(two.logits, one));
  CHECK((2 * two.logits - one).sub(one).abs().max().item<double>() > 1e-3);
  require_equal(segment_clouds(model, settings, two_clouds(), BlockKind::spread).logits, two.logits, "the same again");
}

TEST_CASE("votes are those of a segmentation block by block") {
  SegmentSettings settings = small_segment_settings("absolute");
  PointSegmenter model = small_segmenter(settings);
  const PackedClouds clouds = two_clouds();
  settings.evaluation.votes = 3;
  for (const SampleMode how : {SampleMode::seeded, SampleMode::greedy}) {
    for (const int64_t block : {0, 25}) {
      INFO(name_of(how) << ", blocks of " << block);
      settings.evaluation.evaluation = how;
      settings.clouds.block = block;
      const at::Tensor found = segment_clouds(model, settings, clouds, BlockKind::spread).logits;
      const at::NoGradGuard guard;
      std::vector<at::Tensor> votes;
      for (uint64_t vote = 0; vote < 3; ++vote) {
        const Blocks blocks = make_blocks(clouds.points, clouds.ptr, block, BlockKind::spread, vote);
        votes.push_back(at::zeros_like(found));
        for (int64_t b = 0; b < blocks.item.size(0); ++b) {
          const at::Tensor rows =
              blocks.rows.slice(0, blocks.ptr[b].item<int64_t>(), blocks.ptr[b + 1].item<int64_t>());
          const at::Tensor ptr = at::tensor({int64_t{0}, rows.size(0)}, at::kLong);
          const at::Tensor points =
              normalize(clouds.points.index_select(0, rows).to(at::kDouble)).points.to(at::kFloat);
          SamplingContext context =
              how == SampleMode::greedy ? SamplingContext::greedy() : SamplingContext::seeded(vote);
          const at::Tensor logits =
              model->forward(points, clouds.normals.index_select(0, rows), ptr,
                             clouds.category.index_select(0, blocks.item.slice(0, b, b + 1)), context);
          votes.back().index_copy_(0, rows, logits);
        }
      }
      require_close(found, (votes[0] + votes[1] + votes[2]) / 3, 1e-5, "logits");
      // Greedy votes on whole clouds are one; others differ in their samples or in their blocks.
      const bool differ = how == SampleMode::seeded || block > 0;
      for (const auto& [a, b] : {std::pair(0, 1), std::pair(1, 2)}) {
        CHECK(((votes[a] - votes[b]).abs().max().item<double>() > 1e-4) == differ);
      }
    }
  }
}

TEST_CASE("parts that a shape cannot have become impossible") {
  const at::Tensor logits = at::tensor({1.0f, 3.0f, 2.0f, 5.0f, 4.0f, 0.0f}).view({2, 3});
  const at::Tensor masked = masked_logits(logits, at::tensor({1, 0, 1}, at::kLong).to(at::kBool).unsqueeze(0));
  require_equal(masked.argmax(1), at::tensor({2, 0}, at::kLong), "labels");
  CHECK(at::isfinite(masked).all().item<bool>());
  const at::Tensor half =
      masked_logits(logits.to(at::kHalf), at::tensor({1, 0, 1}, at::kLong).to(at::kBool).unsqueeze(0));
  require_equal(half, masked, "of logits in float16");
}

TEST_CASE("a saved model of parts is loaded as it was") {
  const TemporaryFolder folder;
  const SegmentSettings settings = small_segment_settings("local");
  save_checkpoint(folder / "x.ckpt", saved(settings));
  const SegmentRun loaded = load_segment_run(folder / "x.ckpt");
  CHECK(loaded.class_names == small_classes);
  CHECK((loaded.parts == small_parts()));
  CHECK(loaded.part_name(4) == "mug/base");
  CHECK(loaded.settings.model.tokens == PointTokens::local);
  CHECK_FALSE(loaded.model->is_training());
  const auto expected = module_state(*small_segmenter(settings));
  for (const auto& [name, tensor] : module_state(*loaded.model)) require_equal(tensor, expected.at(name), name);
}

TEST_CASE("checkpoints of something else, or without parts, are refused") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "x.ckpt";
  const auto refused = [&](const Checkpoint& checkpoint, const std::vector<std::string>& words) {
    save_checkpoint(file, checkpoint);
    require_error([&] { load_segment_run(file); }, words);
  };
  Checkpoint other = saved(small_segment_settings());
  other.texts.at("kind") = "geosft-classify";
  refused(other, {"x.ckpt", "geosft-segment", "geosft-classify"});
  other = saved(small_segment_settings());
  other.texts.erase("parts");
  refused(other, {"x.ckpt", "'parts'"});
  other = saved(small_segment_settings());
  other.texts.at("parts") = "0 lamp top\n1 mug cup\n";
  refused(other, {"x.ckpt", "shape"});
  other = saved(small_segment_settings());
  other.texts.at("parts") = "0 sofa top\n";
  refused(other, {"x.ckpt", "sofa"});
}

TEST_CASE("a run of parts is told from others, and from sets of other parts") {
  const TemporaryFolder folder;
  Checkpoint checkpoint = saved(small_segment_settings());
  save_checkpoint(folder / "x.ckpt", checkpoint);
  CHECK(is_run_of(Segmentation::program, folder / "x.ckpt"));
  checkpoint.texts.at("kind") = "geosft-classify";
  save_checkpoint(folder / "y.ckpt", checkpoint);
  CHECK_FALSE(is_run_of(Segmentation::program, folder / "y.ckpt"));
  require_error([&] { is_run_of(Segmentation::program, folder / "z.ckpt"); }, {"z.ckpt"});
  write_part_set(folder / "set");
  SegmentRun run = small_segment_run(small_segment_settings());
  const auto open = [&] { return open_part_dataset(folder / "set", PartSplit::test); };
  CHECK((with_parts_of(run, open())->parts() == run.parts));
  run.parts.pop_back();
  run.settings.data = "some/set";
  require_error([&] { with_parts_of(run, open()); }, {"some/set: expected some of the 2 classes with 4 parts",
                                                      "2 classes with 5 parts, of which it does not know 1, mug/base"});
}

TEST_CASE("a set whose parts a model knows in another order gets the model's numbers") {
  const TemporaryFolder folder;
  write_part_set(folder / "set");
  SegmentRun run = small_segment_run(small_segment_settings());
  run.settings.data = "some/set";
  run.class_names = {"car", "mug", "lamp"};
  run.parts = {{"base", 1}, {"door", 0}, {"foot", 2}, {"cup", 1}, {"top", 2}, {"pole", 2}};
  const CapturedStderr said;
  const auto open = [&] { return open_part_dataset(folder / "set", PartSplit::test); };
  const auto own = open(), known = with_parts_of(run, open());
  CHECK(said.text() == "some/set: its 2 classes with 5 parts are among those of the model, by name\n");
  CHECK((known->class_names() == run.class_names && known->parts() == run.parts && known->in_memory()));
  const std::vector<int64_t> ids = {4, 5, 2, 3, 0};  // of lamp top, pole and foot, mug cup and base
  at::Tensor counts = at::zeros({6}, at::kLong);
  for (int64_t i = 0; i < own->size(); ++i) {
    const Shape mine = own->get(i), theirs = known->get(i);
    CHECK((theirs.label == 2 - mine.label && known->label(i) == theirs.label && known->name(i) == mine.name));
    for (int64_t point = 0; point < mine.parts.size(0); ++point) {
      CHECK(theirs.parts[point].item<int64_t>() == ids.at(static_cast<size_t>(mine.parts[point].item<int64_t>())));
    }
    counts += at::bincount(theirs.parts, {}, 6);
  }
  require_equal(known->count_parts().parts, counts, "counts");
  // Points without a label stay so.
  const PartClouds clouds = PartClouds(4, 63, 5).remove_labels();
  write_hdf5(folder / "set/ply_data_test0.h5", clouds.arrays());
  const auto partly = with_parts_of(run, open());
  const at::Tensor numbers = at::tensor(ids, at::kLong);
  for (int64_t i = 0; i < 4; ++i) {
    const at::Tensor mine = clouds.parts[i], theirs = partly->get(i).parts;
    require_equal(theirs == unlabelled_part, mine == unlabelled_part, "points without a label");
    const at::Tensor labelled = (mine >= 0).nonzero().squeeze(1);
    require_equal(theirs.index_select(0, labelled), numbers.index_select(0, mine.index_select(0, labelled)), "parts");
  }
  CHECK((partly->count_parts().unlabelled == 126 && partly->count_parts().unlabelled_clouds == 1));
}

TEST_CASE("what describes a run is what resuming may not change") {
  SegmentSettings settings = small_segment_settings();
  settings.data = "/parts";
  const RunDescription run = describe_run<Segmentation>(settings, {{small_classes}, small_parts()}, true);
  CHECK(run.held_out);
  CHECK(run.score.name == "instance_iou");
  CHECK(run.data == "/parts");
  CHECK(run.texts().at("parts") == "0 lamp top\n1 lamp pole\n2 lamp foot\n3 mug cup\n4 mug base\n");
}

TEST_CASE("splits have names") {
  CHECK(value_named<PartSplit>("train", "split") == PartSplit::train);
  CHECK(value_named<PartSplit>("validation", "split") == PartSplit::validation);
  CHECK(value_named<PartSplit>("test", "split") == PartSplit::test);
  require_error([] { value_named<PartSplit>("all", "split"); }, {"all", "validation"});
}

}  // namespace geosft::test::test_segmentation
