// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_run.h"

#include <catch2/catch.hpp>

#include "models/training/training_loop.h"
#include "tests/tools/segment/small_segmenter.h"

namespace geosft::test::test_segment_run {
namespace {

Checkpoint saved(const SegmentSettings& settings) {
  Checkpoint checkpoint{{}, describe_run(settings, small_classes, small_parts(), false).texts()};
  for (const auto& [name, tensor] : module_state(*small_segmenter(settings))) {
    checkpoint.tensors.emplace("model." + name, tensor);
  }
  return checkpoint;
}

}  // namespace

TEST_CASE("a saved model of parts is loaded as it was") {
  const TemporaryFolder folder;
  const SegmentSettings settings = small_segment_settings("local");
  save_checkpoint(folder / "x.ckpt", saved(settings));
  const SegmentRun loaded = load_segment_run(folder / "x.ckpt");
  CHECK(loaded.class_names == small_classes);
  CHECK((loaded.parts == small_parts()));
  CHECK(loaded.part_name(4) == "mug/base");
  CHECK(loaded.settings.model.tokens == "local");
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
  CHECK(is_segment_run(folder / "x.ckpt"));
  checkpoint.texts.at("kind") = "geosft-classify";
  save_checkpoint(folder / "y.ckpt", checkpoint);
  CHECK_FALSE(is_segment_run(folder / "y.ckpt"));
  require_error([&] { is_segment_run(folder / "z.ckpt"); }, {"z.ckpt"});
  write_part_set(folder / "set");
  SegmentRun run = small_segment_run(small_segment_settings());
  const auto set = open_part_dataset(folder / "set", PartSplit::test);
  CHECK_NOTHROW(check_same_parts(run, *set));
  run.parts.pop_back();
  run.settings.data = "some/set";
  require_error([&] { check_same_parts(run, *set); }, {"some/set", "2 classes and 4 parts", "2 classes and 5 parts"});
}

TEST_CASE("what describes a run is what resuming may not change") {
  SegmentSettings settings = small_segment_settings();
  settings.data = "/parts";
  const RunDescription run = describe_run(settings, small_classes, small_parts(), true);
  CHECK(run.held_out);
  CHECK(run.score.name == "instance_iou");
  CHECK(run.data == "/parts");
  CHECK(run.texts().at("parts") == "0 lamp top\n1 lamp pole\n2 lamp foot\n3 mug cup\n4 mug base\n");
}

}  // namespace geosft::test::test_segment_run
