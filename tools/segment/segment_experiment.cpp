// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_experiment.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>

#include "data/data_error.h"
#include "tools/experiment/cloud_checks.h"
#include "tools/experiment/estimated_normals.h"
#include "tools/scene/page.h"
#include "tools/scene/segment_gallery.h"
#include "tools/segment/segment_task.h"

namespace geosft {
namespace {

nlohmann::json scores_json(const SegmentScores& scores) {
  return {{"instance_iou", scores.parts.instance_iou},
          {"class_iou", scores.parts.class_iou},
          {"accuracy", scores.parts.accuracy},
          {"mean_part_accuracy", scores.parts.mean_part_accuracy},
          {"loss", scores.loss}};
}

std::string scores_text(const SegmentScores& scores) {
  std::ostringstream out;
  out << "instance IoU " << percent(scores.parts.instance_iou) << "  class IoU " << percent(scores.parts.class_iou)
      << "  part accuracy " << percent(scores.parts.accuracy) << "  mean of parts "
      << percent(scores.parts.mean_part_accuracy) << "  loss " << std::setprecision(4) << scores.loss;
  return out.str();
}

// Returns the mean over the `allowed` parts, bool [parts], of the IoU of the labelled points.
double shape_iou(const at::Tensor& predicted, const at::Tensor& truth, const at::Tensor& allowed) {
  const PartCounts counts = count_parts(predicted, truth, at::zeros_like(truth), 1, allowed.size(0));
  return shape_ious(counts, allowed.unsqueeze(0)).item<double>();
}

// Returns the clouds of the files of a split, with the classes and parts of the run.
std::unique_ptr<PartDataset> open_shapes(const SegmentRun& trained, PartSplit split) {
  return with_parts_of(trained, open_part_dataset(trained.settings.data, split, trained.settings.reading()));
}

// Returns the split of the files that the clouds of a split of the run are in.
PartSplit files_of(const SegmentRun& trained, const std::string& split) {
  // A training without a published validation split has opened both, of which split.csv says what it held out.
  const bool together =
      split != "test" && !trained.settings.clouds.published_validation && !trained.split_file_of_data().empty();
  return together ? PartSplit::train_and_validation : value_named<PartSplit>(split, "split");
}

// Returns the loss of IoU on rotated copies, in percentage points.
double lost_points(const SegmentEvaluation& evaluation) {
  return 100 * (evaluation.upright->parts.instance_iou - evaluation.scores.parts.instance_iou);
}

// Returns the part of a class with the smallest IoU: "handle 49.9 %".
std::string lowest_part(const PartScores& scores, const PartNames& names, int64_t label) {
  const SinglePartScores* lowest = nullptr;
  std::string name;
  for (size_t id = 0; id < names.parts.size(); ++id) {
    if (names.parts[id].category != label || (lowest != nullptr && lowest->iou <= scores.parts[id].iou)) continue;
    lowest = &scores.parts[id];
    name = names.parts[id].name;
  }
  return lowest == nullptr ? "-" : name + " " + percent(lowest->iou);
}

nlohmann::json parts_json(const PartNames& names) {
  nlohmann::json list = nlohmann::json::array();
  for (size_t id = 0; id < names.parts.size(); ++id) {
    const ShapePart& part = names.parts[id];
    list.push_back({{"id", id},
                    {"class", names.class_names.at(static_cast<size_t>(part.category))},
                    {"label", part.label},
                    {"part", part.name}});
  }
  return list;
}

constexpr const char* test_advice =
    "train evaluates the test split at its end. Move some labelled clouds into this split; predict takes clouds "
    "without labels";

// Refuses clouds to train or to validate with none of which has a label: the files of a split can have labels where
// the clouds that the settings choose of them have none.
void require_labelled_subsets(const CloudTrainingData& data, const std::string& source) {
  require_labelled_cloud(data.train(), source, std::to_string(data.train().size()) + " clouds to train with",
                         "take more of each class (--max-per-class), hold out fewer (--validation-fraction), or choose "
                         "others (--seed)");
  if (const PointDataset* const validation = data.validation()) {
    require_labelled_cloud(*validation, source, std::to_string(validation->size()) + " clouds to validate with",
                           "hold out more (--validation-fraction) or others (--seed), or none (--validation-fraction "
                           "0)");
  }
}

}  // namespace

SegmentExperiment::Clouds SegmentExperiment::open_training(const SegmentSettings& settings, const Communicator&) {
  const bool published = settings.clouds.published_validation;
  std::unique_ptr<PartDataset> training, test, validation;
  std::vector<std::string> warnings;
  const auto open = [&](std::unique_ptr<PartDataset>& to, PartSplit split) {
    return [&, split] {
      to = open_part_dataset(settings.data, split, settings.reading());
      const std::string name = split == PartSplit::train_and_validation ? "train" : name_of(split);
      const std::string source = settings.data + " (" + name + ")";
      const LabelCounts counts = count_required_parts(*to, source, split == PartSplit::test ? test_advice : "");
      for (std::string& warning : empty_parts_warnings(*to, counts, source)) {
        warnings.push_back(std::move(warning));
      }
      if (std::string warning = unlabelled_warning(counts, source); !warning.empty()) {
        warnings.push_back(std::move(warning));
      }
      for (std::string& warning : to->warnings()) {
        if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(std::move(warning));
      }
    };
  };
  throw_all_broken(
      open(training, published ? PartSplit::train : PartSplit::train_and_validation),
      [&] {
        if (published) open(validation, PartSplit::validation)();
      },
      open(test, PartSplit::test));
  if (!published && has_split(settings.data, PartSplit::validation)) {
    warnings.push_back(settings.data +
                       ": its validation split is trained on (--published-validation chooses the checkpoint by it)");
  }
  for (const std::string& warning : warnings) std::cerr << warning << '\n';
  PartNames outputs{{training->class_names()}, training->parts()};
  if (outputs.parts.size() < 2) throw DataError(settings.data, "two parts or more", outputs.part_name(0) + " alone");
  Clouds clouds{CloudTrainingData(std::move(training), std::move(validation), std::move(test), settings.clouds,
                                  settings.seed, settings.data, settings.augment),
                std::move(outputs)};
  require_labelled_subsets(clouds.data, settings.data);
  return clouds;
}

std::unique_ptr<TrainingTask> SegmentExperiment::make_task(const PointSegmenter& model, const Clouds& clouds,
                                                           const SegmentSettings& settings,
                                                           const Communicator& processes) {
  return std::make_unique<SegmentTask>(model, clouds.data.train(), clouds.data.validation(), settings,
                                       clouds.outputs.mask(), processes);
}

std::unique_ptr<PointDataset> SegmentExperiment::open_files(const SegmentRun& trained, const std::string& split) {
  const SegmentSettings& settings = trained.settings;
  std::unique_ptr<PartDataset> dataset = open_shapes(trained, files_of(trained, split));
  // Refuses clouds without parts. has_normals() knows of files that have been read.
  count_required_parts(*dataset, settings.data + " (" + split + ")");
  if (!settings.clouds.normals) return dataset;
  const auto estimate = settings.augment.only_estimated_normals() ? with_estimated_normals : with_normals;
  return estimate(std::move(dataset), settings.data, settings.clouds.normal_orientation);
}

SetClouds SegmentExperiment::open_set(const SegmentRun& trained, const std::string& split) {
  const std::string& data = trained.settings.data;
  SetClouds set;
  std::set<std::string> said;  // of several splits, once
  const auto add = [&](std::unique_ptr<PointDataset> clouds) {
    for (const std::string& warning : clouds->warnings()) {
      if (said.insert(warning).second) std::cerr << warning << '\n';
    }
    set.add(std::move(clouds));
  };
  if (split != "all") {
    add(recorded_split<SegmentExperiment>(trained, split, open_shapes(trained, files_of(trained, split))));
  }
  for (const PartSplit one : {PartSplit::train, PartSplit::validation, PartSplit::test}) {
    // Opens what is no set of parts, too: the error says so.
    if (split == "all" && (!is_part_dataset(data) || has_split(data, one))) add(open_shapes(trained, one));
  }
  if (set.repeated > 0) {
    std::cerr << data << ": " << set.repeated << " of its clouds have the name of another one, and are left out\n";
  }
  return set;
}

std::vector<std::string> SegmentExperiment::recorded_splits(const SegmentSettings& settings, const std::string& split) {
  const bool alone = split == "test" || settings.clouds.published_validation;
  return alone ? std::vector<std::string>{split} : std::vector<std::string>{"train", "validation"};
}

SegmentEvaluation SegmentExperiment::evaluate(SegmentRun& trained, const PointDataset& clouds, Rotation rotation,
                                              int64_t repeats, const std::function<void(int64_t)>& progress) {
  const int64_t votes = trained.settings.evaluation.votes;
  return evaluate_parts(trained.model, clouds, trained.settings, trained.mask(), rotation, repeats,
                        [&](int64_t done) { progress(done * votes); });
}

nlohmann::json SegmentExperiment::metrics_json(const Evaluation& evaluation) {
  return scores_json(evaluation.scores);
}

void SegmentExperiment::add_json(nlohmann::json& json, const Evaluation& evaluation, const PartNames& outputs) {
  if (evaluation.upright) {
    json["upright"] = scores_json(*evaluation.upright);
    json["lost_points"] = lost_points(evaluation);
  }
  for (size_t label = 0; label < outputs.class_names.size(); ++label) {
    const ClassPartScores& scores = evaluation.scores.parts.classes[label];
    nlohmann::json row{{"class", outputs.class_names[label]}, {"shapes", scores.shapes}};
    if (scores.shapes > 0) row["iou"] = scores.iou, row["accuracy"] = scores.accuracy;
    json["classes"].push_back(row);
  }
  json["parts"] = parts_json(outputs);
  for (size_t id = 0; id < outputs.parts.size(); ++id) {
    const SinglePartScores& scores = evaluation.scores.parts.parts[id];
    json["parts"][id]["iou"] = scores.iou;
    json["parts"][id]["accuracy"] = scores.accuracy;
  }
}

std::string SegmentExperiment::metrics_text(const Evaluation& evaluation) {
  return scores_text(evaluation.scores);
}

std::string SegmentExperiment::loss_text(const Evaluation& evaluation) {
  if (!evaluation.upright) return "";
  const double lost = lost_points(evaluation);
  std::ostringstream out;
  out << "upright: " << scores_text(*evaluation.upright) << "\nlost by rotating: " << std::fixed << std::setprecision(2)
      << (std::abs(lost) < 0.005 ? 0.0 : lost) << " points of instance IoU\n";
  return out.str();
}

std::vector<std::vector<std::string>> SegmentExperiment::table(const Evaluation& evaluation, const PartNames& outputs) {
  std::vector<std::vector<std::string>> rows = {
      {"class", evaluation.upright ? "copies" : "clouds", "IoU", "points", "lowest part"}};
  for (size_t label = 0; label < outputs.class_names.size(); ++label) {
    const ClassPartScores& scores = evaluation.scores.parts.classes[label];
    const bool seen = scores.shapes > 0;
    rows.push_back({outputs.class_names[label], std::to_string(scores.shapes), seen ? percent(scores.iou) : "-",
                    seen ? percent(scores.accuracy) : "-",
                    seen ? lowest_part(evaluation.scores.parts, outputs, static_cast<int64_t>(label)) : "-"});
  }
  return rows;
}

Mistakes SegmentExperiment::mistakes(SegmentRun& trained, const PointDataset& clouds, const std::string& split,
                                     int64_t count) {
  const bool plain = split == "test" || !has_split(trained.settings.data, PartSplit::validation);
  Mistakes found{
      "The lowest IoU, the mean over the parts of a shape's class; each part has a colour of its own, and "
      "points without a label are light grey" +
          (plain ? view_hint(split) : ""),
      {},
      view::empty_page()};
  std::vector<std::pair<double, int64_t>> order;  // IoU, row
  ProgressBar bar("looking for mistakes", count == 0 ? 0 : clouds.size());
  const auto predicted = [&](const Shape& shape) {
    return part_logits(trained, shape, shape.label, BlockKind::spread).argmax(1);
  };
  for (int64_t row = 0; count > 0 && row < clouds.size(); ++row) {
    const Shape shape = clouds.get(row);
    if ((shape.parts != unlabelled_part).any().item<bool>()) {
      order.emplace_back(shape_iou(predicted(shape), shape.parts, trained.mask()[shape.label]), row);
    }
    bar.update(row + 1);
    throw_if_interrupted("in the middle of a report");
  }
  std::sort(order.begin(), order.end());
  for (const auto& [iou, row] : order) {
    if (static_cast<int64_t>(found.worst.size()) == count) break;
    const Shape shape = clouds.get(row);
    Shape exact = shape;
    prepare_normals(exact, trained.settings.clouds.normals);
    set_precision(exact, at::kDouble);
    found.worst.push_back({"item " + std::to_string(number_in_data(clouds, row)) + ": " + shape.name,
                           trained.class_names.at(static_cast<size_t>(shape.label)) + ", IoU " + percent(iou),
                           {{"predicted", shape.points, part_colours(predicted(shape), trained.parts)},
                            {"true", shape.points, part_colours(shape.parts, trained.parts)}},
                           view::report_scene(view::explained_parts(trained, exact, shape.label).first, count)});
  }
  return found;
}

std::string SegmentExperiment::outputs_text(const PartNames& outputs) {
  const size_t count = outputs.parts.size();
  std::string text =
      ClassNames(outputs).size_text() + ", " + std::to_string(count) + (count == 1 ? " part:\n" : " parts:\n");
  for (size_t category = 0; category < outputs.class_names.size(); ++category) {
    std::string parts;
    for (const ShapePart& part : outputs.parts) {
      if (part.category != static_cast<int64_t>(category)) continue;
      const std::string label = std::to_string(part.label);
      parts += (parts.empty() ? " " : ", ") + (part.name == label ? label : label + " " + part.name);
    }
    text += "  " + outputs.class_names[category] + ":" + parts + "\n";
  }
  return text;
}

void SegmentExperiment::add_outputs(nlohmann::json& json, const PartNames& outputs) {
  json["parts"] = parts_json(outputs);
}

void SegmentExperiment::print_dataset(const std::filesystem::path& data, const CloudReading& reading, bool json) {
  const ShapeReadOptions options{reading.options.columns, reading.options.drop_invalid};
  const auto training = open_part_dataset(data, PartSplit::train, options),
             test = open_part_dataset(data, PartSplit::test, options);
  const PartNames outputs{{training->class_names()}, training->parts()};
  std::unique_ptr<PartDataset> validation;
  if (has_split(data, PartSplit::validation)) validation = open_part_dataset(data, PartSplit::validation, options);
  std::vector<std::pair<std::string, const PartDataset*>> splits = {{"train", training.get()}, {"test", test.get()}};
  if (validation) splits.emplace(splits.begin() + 1, "validation", validation.get());
  std::vector<std::optional<LabelCounts>> counts(splits.size());
  if (reading.check) {
    std::vector<std::string> broken;
    for (size_t i = 0; i < splits.size(); ++i) {
      if (!splits[i].second->has_parts()) continue;
      try {
        counts[i] = splits[i].second->count_parts();
      } catch (const BrokenFiles& error) {
        broken.insert(broken.end(), error.messages().begin(), error.messages().end());
      }
    }
    if (!broken.empty()) throw BrokenFiles(broken);
  }
  std::vector<std::string> warnings;
  const auto add = [&](const std::vector<std::string>& more) {
    for (const std::string& warning : more) {
      if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(warning);
    }
  };
  if (outputs.parts.size() < 2)
    add({data.string() + ": one part, " + outputs.part_name(0) + ": a training needs two or more"});
  std::vector<const PointDataset*> learned;
  for (size_t i = 0; i < splits.size(); ++i) {
    const auto& [split, shapes] = splits[i];
    const std::string name = data.string() + " (" + split + ")";
    if (split != "validation") {
      add(empty_parts_warnings(*shapes, counts[i], name));
    }
    if (counts[i] && counts[i]->unlabelled > 0) add({unlabelled_warning(*counts[i], name)});
    if (!shapes->has_parts()) add({name + ": its files have no array pid: the parts can only be predicted"});
    add(shapes->warnings());
    if (reading.check) add(cloud_form_warnings(*shapes, name));
    if (split != "test") learned.push_back(shapes);
  }
  if (reading.check) {
    if (std::string copies = copies_warning(learned, *test, data.string()); !copies.empty()) add({std::move(copies)});
  }
  if (json) {
    nlohmann::json object{{"data", data.string()},          {"train", training->size()},
                          {"test", test->size()},           {"normals", training->has_normals() && test->has_normals()},
                          {"classes", outputs.class_names}, {"parts", parts_json(outputs)}};
    if (validation) object["validation"] = validation->size();
    for (size_t i = 0; i < splits.size(); ++i) {
      if (counts[i]) object["unlabelled_points"][splits[i].first] = counts[i]->unlabelled;
    }
    if (!warnings.empty()) object["warnings"] = warnings;
    std::cout << json_line(object);
    return;
  }
  std::cout << training->size() << " shapes to train with";
  if (validation) std::cout << ", " << validation->size() << " to validate with";
  const bool to_train = training->has_normals(), to_test = test->has_normals();
  std::cout << ", " << test->size() << " to test with, " << (to_train || to_test ? "with" : "without") << " normals"
            << (to_train == to_test ? ""
                : to_train          ? " to train with alone"
                                    : " to test with alone")
            << '\n'
            << outputs_text(outputs);
  for (const std::string& warning : warnings) std::cout << warning << '\n';
}

}  // namespace geosft
