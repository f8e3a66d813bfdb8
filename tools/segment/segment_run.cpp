// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_run.h"

#include "data/points/shape.h"

namespace geosft {
namespace {

constexpr const char* segment_kind = "geosft-segment";

}  // namespace

std::string SegmentRun::part_name(int64_t part) const {
  const ShapePart& found = parts.at(static_cast<size_t>(part));
  return class_names.at(static_cast<size_t>(found.category)) + "/" + found.name;
}

RunDescription describe_run(SegmentSettings settings, const std::vector<std::string>& class_names,
                            const PartList& parts, bool held_out) {
  RunDescription run;
  run.kind = segment_kind;
  run.config = settings.config().to_toml();
  run.names = class_names;
  run.more_texts = {{"parts", part_list_text(parts, class_names)}};
  run.data = settings.data;
  run.epochs = settings.train.epochs;
  run.checkpoint_every = settings.train.checkpoint_every;
  run.held_out = held_out;
  run.score.name = "instance_iou";
  return run;
}

SegmentRun load_segment_run(const std::filesystem::path& run) {
  std::filesystem::path file;
  const Checkpoint checkpoint = load_run_checkpoint(run, file);
  return segment_run_of(checkpoint, file);
}

SegmentRun segment_run_of(const Checkpoint& checkpoint, const std::filesystem::path& file) {
  SegmentRun loaded;
  loaded.class_names = run_names(checkpoint, segment_kind, file);
  read_run_config(file, [&] {
    loaded.settings.config().set_text(run_text(checkpoint, segment_kind, "config", file), "its configuration");
  });
  loaded.parts = parse_part_list(run_text(checkpoint, segment_kind, "parts", file), loaded.class_names, file.string());
  loaded.model = PointSegmenter(loaded.settings.segmenter(static_cast<int64_t>(loaded.parts.size()),
                                                          static_cast<int64_t>(loaded.class_names.size())));
  load_run_weights(*loaded.model, checkpoint, file);
  loaded.model->eval();
  return loaded;
}

bool is_segment_run(const std::filesystem::path& run) {
  std::filesystem::path file;
  const Checkpoint checkpoint = load_run_checkpoint(run, file);
  const auto kind = checkpoint.texts.find("kind");
  return kind != checkpoint.texts.end() && kind->second == segment_kind;
}

void check_same_parts(const SegmentRun& trained, const PartDataset& dataset) {
  if (dataset.class_names() == trained.class_names && dataset.parts() == trained.parts) return;
  const auto text = [](size_t classes, size_t parts) {
    return std::to_string(classes) + " classes and " + std::to_string(parts) + " parts";
  };
  throw DataError(trained.settings.data,
                  "the " + text(trained.class_names.size(), trained.parts.size()) + " of the trained model",
                  text(dataset.class_names().size(), dataset.parts().size()) + ", or other names");
}

}  // namespace geosft
