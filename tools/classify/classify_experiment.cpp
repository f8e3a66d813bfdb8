// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/classify_experiment.h"

#include <cmath>
#include <iostream>
#include <numeric>
#include <utility>

#include "data/data_error.h"
#include "tools/experiment/class_counts.h"
#include "tools/experiment/class_subset.h"
#include "tools/experiment/colour_map.h"
#include "tools/experiment/estimated_normals.h"
#include "tools/experiment/key_names.h"
#include "tools/experiment/plots.h"
#include "tools/experiment/shape_folders.h"
#include "tools/scene/cloud_gallery.h"
#include "tools/scene/page.h"

namespace geosft {
namespace {

// Ends with exit code 1 if a check found broken files, which were named before.
void refuse_broken(const std::optional<ShapeFilesCheck>& check) {
  if (!check || check->broken.empty()) return;
  throw DataError(
      std::to_string(check->broken.size()) + " of " + std::to_string(check->count) +
      " files are broken: mend or remove them, or train with --skip-broken, which leaves them out (and with "
      "--drop-invalid, where points are not finite; with other --columns, where those are not as named)");
}

at::Tensor labels_of(const PointDataset& clouds) {
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < clouds.size(); ++i) labels.push_back(clouds.label(i));
  return at::tensor(labels, at::kLong);
}

}  // namespace

ClassifyExperiment::Clouds ClassifyExperiment::open_training(const ClassifySettings& settings,
                                                             const Communicator& processes) {
  if (settings.clouds.kernel_ridge && !settings.clouds.normals && processes.is_root()) {
    std::cerr << "kernel_ridge is left out: it needs normals, which normals = false leaves out\n";
  }
  return root_first(processes, [&] {
    std::unique_ptr<PointDataset> training, test;
    // The test split, smaller, comes first: without one the run ends early.
    with_broken_hint([&] {
      throw_all_broken([&] { test = open_dataset(settings, Split::test); },
                       [&] { training = open_dataset(settings, Split::train); });
    });
    ClassNames outputs{training->class_names()};
    if (outputs.class_names.size() < 2) {
      throw DataError(settings.data, "at least two classes, a folder each", "one: " + outputs.class_names.front());
    }
    return Clouds{CloudTrainingData(std::move(training), nullptr, std::move(test), settings.clouds, settings.seed,
                                    settings.data, settings.augment),
                  std::move(outputs)};
  });
}

std::unique_ptr<TrainingTask> ClassifyExperiment::make_task(const PointClassifier& model, const Clouds& clouds,
                                                            const ClassifySettings& settings,
                                                            const Communicator& processes) {
  return std::make_unique<ClassifyTask>(model, clouds.data.train(), clouds.data.validation(), settings, processes);
}

void ClassifyExperiment::fit_companion(const ClassifySettings& settings, const RunFolder& folder, at::Device device) {
  if (!settings.clouds.kernel_ridge || !settings.clouds.normals) return;
  const Clouds opened = open_training(settings, one_process());
  RunModel trained = load_run_model(folder.path());
  ShapeKernel kernel = std::exchange(trained.companion, {});
  const PointDataset& clouds = opened.data.train();
  if (!kernel.regression) {
    std::cerr << "fitting a kernel ridge regression to " << clouds.size() << " clouds\n";
    const ShapeTransform normals = augmented_normals(clouds, settings.clouds, settings.augment);
    kernel.regression = std::make_shared<const KernelRidge>(
        fit_shape_kernel(shape_histograms(clouds, Rotation::none, settings.seed, normals), labels_of(clouds),
                         static_cast<int64_t>(opened.outputs.class_names.size()), settings.seed));
  }
  std::ostringstream text;
  text << "kernel ridge regression: ridge " << kernel.regression->ridge().mean().item<double>();
  if (opened.data.held_out()) {
    const PointDataset& held_out = *opened.data.validation();
    trained.to(device);
    const DatasetLogits networks = run_logits(trained, held_out, Rotation::none, 0);
    const at::Tensor histograms = shape_histograms(held_out);
    const auto loss_with = [&](double weight) {
      kernel.weight = weight;
      return at::cross_entropy_loss(kernel.averaged(networks.logits, histograms), networks.labels).item<double>();
    };
    kernel.weight = chosen_weight(loss_with, held_out.size(), text);
  }
  text << "; weight " << kernel.weight << '\n';
  kernel.save(folder.path());
  std::cerr << text.str();
  folder.append_log(text.str());
}

std::unique_ptr<PointDataset> ClassifyExperiment::open_files(const RunModel& trained, const std::string& split) {
  const ClassifySettings& settings = trained.settings;
  if (split == "validation" && trained.split_file_of_data().empty()) {
    throw DataError(settings.data, "data of which the training held some out, for --split validation", "other data");
  }
  std::unique_ptr<PointDataset> dataset;
  with_broken_hint([&] { dataset = open_dataset(settings, split == "test" ? Split::test : Split::train); });
  if (dataset->class_names() != trained.class_names) {
    const ClassNames found{dataset->class_names()};
    const std::vector<std::string> unknown = unknown_classes(found.class_names, trained.class_names);
    if (!unknown.empty()) {
      throw unknown_outputs(settings.data, trained.size_text(), trained.class_names, found.size_text(), unknown);
    }
    stderr_notes().print(settings.data + ": its " + found.size_text() + " are among the " +
                         std::to_string(trained.class_names.size()) +
                         " of the model, by name; the model may predict any of them");
    dataset = std::make_unique<ClassSubset>(std::move(dataset), trained.class_names);
  }
  if (!settings.clouds.normals) return dataset;
  const auto estimate = settings.augment.only_estimated_normals() ? with_estimated_normals : with_normals;
  return estimate(std::move(dataset), settings.data, settings.clouds.normal_orientation);
}

std::vector<std::string> ClassifyExperiment::recorded_splits(const ClassifySettings&, const std::string& split) {
  return split == "test" ? std::vector<std::string>{"test"} : std::vector<std::string>{"train", "validation"};
}

ClassifyEvaluation ClassifyExperiment::evaluate(RunModel& trained, const PointDataset& clouds, Rotation rotation,
                                                int64_t repeats, const std::function<void(int64_t)>& progress) {
  const int64_t passes = rotation == Rotation::none ? 1 : repeats + 1;  // the first pass is upright
  const int64_t each = clouds.size() * trained.settings.evaluation.votes;
  std::vector<DatasetLogits> evaluations;
  for (int64_t pass = 0; pass < passes; ++pass) {
    evaluations.push_back(run_logits(trained, clouds, pass == 0 ? Rotation::none : rotation, pass,
                                     [&](int64_t done) { progress(pass * each + done); }));
  }
  if (rotation == Rotation::none) return {classification_metrics(evaluations), std::nullopt};
  const DatasetLogits upright = evaluations.front();
  evaluations.erase(evaluations.begin());
  return {classification_metrics(evaluations), invariance(upright, evaluations)};
}

nlohmann::json ClassifyExperiment::metrics_json(const Evaluation& evaluation) {
  nlohmann::json json{{"accuracy", evaluation.metrics.accuracy},
                      {"mean_class_accuracy", evaluation.metrics.mean_class_accuracy},
                      {"loss", evaluation.metrics.loss}};
  if (const auto& bins = evaluation.metrics.reliability; !bins.empty()) {
    json["expected_calibration_error"] = expected_calibration_error(bins);
  }
  return json;
}

void ClassifyExperiment::add_json(nlohmann::json& json, const Evaluation& evaluation, const ClassNames& outputs) {
  for (const ClassCounts& one : class_counts(evaluation.metrics.confusion, outputs.class_names)) {
    nlohmann::json row{{"class", one.name}, {"clouds", one.items}, {"predicted", one.predicted}};
    const auto add = [&](const char* name, const std::optional<double>& share) {
      if (share) row[name] = *share;
    };
    add("recall", one.recall());
    add("precision", one.precision());
    add("f1", one.f1());
    json["classes"].push_back(row);
    json["confusion"].push_back(one.guesses);
  }
}

std::string ClassifyExperiment::metrics_text(const Evaluation& evaluation) {
  std::ostringstream out;
  const at::Tensor present = evaluation.metrics.confusion.sum(1) > 0;
  const int64_t known = present.sum().item<int64_t>();
  out << "accuracy " << percent(evaluation.metrics.accuracy) << "  mean class accuracy "
      << percent(evaluation.metrics.mean_class_accuracy);
  if (known < present.numel()) out << " (of the " << known << " classes that have clouds)";
  out << "  loss " << std::setprecision(4) << evaluation.metrics.loss;
  return out.str();
}

std::vector<std::vector<std::string>> ClassifyExperiment::table(const Evaluation& evaluation,
                                                                const ClassNames& outputs) {
  std::vector<std::vector<std::string>> rows = {{"class", evaluation.invariance ? "copies" : "clouds", "right"}};
  for (const ClassCounts& one : class_counts(evaluation.metrics.confusion, outputs.class_names)) {
    rows.push_back({one.name, std::to_string(one.items), share_text(one.recall())});
  }
  return rows;
}

std::vector<std::vector<std::string>> ClassifyExperiment::page_table(const Evaluation& evaluation,
                                                                     const ClassNames& outputs) {
  return class_rows(class_counts(evaluation.metrics.confusion, outputs.class_names), "clouds");
}

void ClassifyExperiment::draw(const CloudReport<ClassifyExperiment>& report, const ClassNames& outputs,
                              const RunFolder& folder) {
  const ClassificationMetrics& metrics = report.evaluation.metrics;
  const std::string title = report.split + " set, " + rotation_text(report.rotation) + ": " + percent(metrics.accuracy);
  const std::string stem = (report.split == "test" ? "" : report.split + "_") + name_of(report.rotation);
  warn_unless_drawn(plot_confusion_matrix(metrics.confusion, outputs.class_names, folder.confusion(stem), title));
}

Mistakes ClassifyExperiment::mistakes(RunModel& trained, const PointDataset& clouds, const std::string& split,
                                      int64_t count) {
  Mistakes found{"Wrong classes, by the probability of the right one; the pictures are coloured by the coordinate z" +
                     view_hint(split),
                 {},
                 view::empty_page()};
  if (count == 0) return found;
  const DatasetLogits all = run_logits(trained, clouds, Rotation::none, 0);
  const at::Tensor shares = all.logits.to(at::kDouble).softmax(1), guesses = all.logits.argmax(1);
  const at::Tensor right = shares.gather(1, all.labels.unsqueeze(1)).squeeze(1);
  const at::Tensor order = right.argsort();
  for (int64_t place = 0; place < order.size(0) && static_cast<int64_t>(found.worst.size()) < count; ++place) {
    const auto row = order[place].item<int64_t>(), label = all.labels[row].item<int64_t>(),
               guess = guesses[row].item<int64_t>();
    if (guess == label) continue;
    const auto share = [&](int64_t of) {
      return trained.class_names[static_cast<size_t>(of)] + " " + percent(shares[row][of].item<double>());
    };
    const Shape shape = clouds.get(row);
    const at::Tensor depth = shape.points.select(1, 2);
    DrawnCloud drawn{"", shape.points, colours_of(ColourMap::viridis, depth, scale_of(depth))};
    view::Subject subject = view::explained_cloud(trained, shape, /*beside=*/false).first;
    subject.truth = trained.class_names[static_cast<size_t>(label)];
    subject.right = false;
    found.worst.push_back({"item " + std::to_string(number_in_data(clouds, row)) + ": " + shape.name,
                           "predicted " + share(guess) + ", is " + share(label),
                           {std::move(drawn)},
                           view::report_scene(subject, count)});
  }
  return found;
}

std::string ClassifyExperiment::outputs_text(const ClassNames& outputs) {
  std::string text = "classes (" + std::to_string(outputs.class_names.size()) + "):";
  const char* separator = " ";
  for (const std::string& one : outputs.class_names) text += std::exchange(separator, ", ") + one;
  return text + "\n";
}

void ClassifyExperiment::print_dataset(const std::filesystem::path& data, const Reading& reading, bool json) {
  PointDatasetOptions options;
  if (reading.test_every) options.test_every = *reading.test_every;
  options.allow_missing = true;  // its warnings say how many are absent
  reading.options.apply(options);
  const PointDatasetSummary found = summarize_point_dataset(data, options);
  std::optional<ShapeFilesCheck> check;
  if (reading.check) check = check_shape_files(data, options);
  const auto total = [](const std::vector<int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
  };
  nlohmann::json classes = nlohmann::json::array();
  std::string lines;
  for (size_t i = 0; i < found.class_names.size(); ++i) {
    classes.push_back({{"name", found.class_names[i]}, {"train", found.train[i]}, {"test", found.test[i]}});
    lines += "  " + found.class_names[i] + ": " + std::to_string(found.train[i]) + " to train with, " +
             std::to_string(found.test[i]) + " to test with\n";
  }
  if (json) {
    nlohmann::json object{{"data", data.string()},
                          {"format", found.format},
                          {"train", total(found.train)},
                          {"test", total(found.test)},
                          {"normals", found.normals ? nlohmann::json(*found.normals) : nlohmann::json()},
                          {"classes", classes},
                          {"warnings", found.warnings}};
    if (check)
      object["check"] = {{check->items, check->count}, {"broken", check->broken}, {"warnings", check->warnings}};
    std::cout << json_line(object);
    refuse_broken(check);
    return;
  }
  for (const std::string& warning : found.warnings) std::cerr << warning << '\n';
  const std::string name = data.string() == found.format ? "" : data.string() + ": ";
  std::cout << name << found.format << ", " << total(found.train) << " clouds to train with, " << total(found.test)
            << " to test with";
  if (found.normals) std::cout << (*found.normals ? ", with normals" : ", without normals");
  std::cout << '\n'
            << found.class_names.size() << (found.class_names.size() == 1 ? " class:\n" : " classes:\n") << lines;
  if (check) {
    for (const auto* messages : {&check->warnings, &check->broken}) {
      for (const std::string& message : *messages) std::cout << message << '\n';
    }
    std::cout << check->count << " " << check->items << ", " << check->broken.size() << " broken\n";
    refuse_broken(check);
  } else if (!found.normals && !holds_data(data)) {
    std::cerr << "the files were counted, not read: --check reads them, and names the broken ones\n";
  }
}

}  // namespace geosft
