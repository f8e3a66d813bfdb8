// SPDX-License-Identifier: Apache-2.0
// geosft-segment train, end to end.
#include <catch2/catch.hpp>

#include "data/points/part_dataset.h"
#include "tests/places.h"
#include "tests/tools/experiment/earlier_checkpoint.h"
#include "tests/tools/experiment/non_finite_batch.h"
#include "tests/tools/experiment/same_runs.h"
#include "tests/tools/segment/segment_tool.h"

namespace geosft::test::test_segment_train_command {
namespace fs = std::filesystem;

TEST_CASE("training parts leaves a complete run and prints the evaluation") {
  const SegmentShop shop;
  const auto [json, said] = shop.require_complete_run({"--validation-fraction", "0.25"}, "lamp\nmug\n");
  CHECK(json.at("task") == "segmentation");
  CHECK(json.at("count") == 4);
  CHECK(json.at("metrics").at("instance_iou") > 0);
  CHECK_THAT(read_text(shop / "run" / "metrics.csv"), Catch::Contains("instance_iou") && Catch::Contains("validation"));
  CHECK_THAT(said, Catch::Contains("training on 6 clouds of 2 classes with 5 parts"));
  CHECK_THAT(said, !Catch::Contains("have no"));
}

TEST_CASE("a training of parts names the classes that it cannot test") {
  const SegmentShop shop;
  write_part_set(shop.data(), 6, 1);
  const ProcessResult result = shop.run_well(shop.train("run"));
  CHECK_THAT(result.err, Catch::Contains("(test): 1 of 2 classes has no shape: mug"));
  CHECK_THAT(shop.run_well({"info", shop.data().string()}).out, Catch::Contains("1 of 2 classes has no shape: mug"));
}

TEST_CASE("points without a label are seen in training, evaluation and prediction, and count in no figure") {
  const SegmentShop shop;
  write_hdf5(shop.data() / "ply_data_train0.h5", PartClouds(8, 63, 1).remove_labels().arrays());
  write_hdf5(shop.data() / "ply_data_test0.h5", PartClouds(4, 63, 5).remove_labels().arrays());
  const ProcessResult trained = shop.run_well(shop.train("run", {"--json"}));
  CHECK_THAT(trained.err,
             Catch::Contains("(train): 210 of 504 points have no label, and 1 of 8 clouds has no labelled"));
  const std::string run = (shop / "run").string();
  const std::string left_out =
      "(test): 126 of 252 points have no label, and 1 of 4 clouds has no labelled point: losses and metrics leave them "
      "out\n";
  CHECK(count_of(trained.err, left_out) == 1);
  const ProcessResult evaluated = shop.run_well({"eval", run, "--json"});
  CHECK(count_of(evaluated.err, left_out) == 1);
  CHECK(count_of(shop.run_well({"eval", run, "--rotate", "z", "--repeats", "2"}).err, left_out) == 1);
  const nlohmann::json result = nlohmann::json::parse(evaluated.out);
  CHECK(result.at("metrics") == nlohmann::json::parse(trained.out).at("metrics"));
  CHECK(result.at("count") == 4);
  CHECK((result.at("classes")[0].at("shapes") == 1 && result.at("classes")[1].at("shapes") == 2));
  for (const auto& [name, value] : result.at("metrics").items()) {
    INFO(name);
    CHECK((value.is_number() && value >= 0));
  }
  const Words predicted =
      lines_of(shop.run_well({"predict", run, "--data", shop.data().string(), "--split", "test", "--json"}).out);
  REQUIRE(predicted.size() == 4);
  for (const std::string& line : predicted) CHECK(nlohmann::json::parse(line).at("points") == 63);
  CHECK(count_of(shop.run_well({"report", run, "--mistakes", "4"}).err, left_out) == 1);
  const std::string page = read_text(shop / "run" / "report.html");
  CHECK(count_of(page, "<section ") == 3);
  CHECK_THAT(page, Catch::Contains("standard errors over 3 clouds)"));
  PartClouds one(4, 63, 5);
  one.parts.slice(0, 0, 3).fill_(unlabelled_part);
  write_hdf5(shop.data() / "ply_data_test0.h5", one.arrays());
  shop.run_well({"report", run});
  CHECK_THAT(read_text(shop / "run" / "report.html"), !Catch::Contains("95 % interval of the instance IoU"));
  PartClouds none(8, 63, 1);
  none.parts.fill_(unlabelled_part);
  write_hdf5(shop.data() / "ply_data_train0.h5", none.arrays());
  shop.refuses(shop.train("none"), 1, {"(train): expected a point with a label, found none among 504"});
  shop.refuses({"eval", run, "--split", "train"}, 1, {"(train): expected a point with a label"});
}

TEST_CASE(
    "a training names clouds without labels that it would learn from, choose by or test with, and leaves no run") {
  const SegmentShop shop;
  PartClouds clouds(8, 63, 1);
  clouds.parts.slice(0, 1).fill_(unlabelled_part);  // the first cloud alone has labels
  write_hdf5(shop.data() / "ply_data_train0.h5", clouds.arrays());
  const auto refused = [&](const Words& more, const Words& expected) {
    shop.require_failure(shop.run(shop.train("run", more)), 1, expected);
    CHECK_FALSE(fs::exists(shop / "run"));
  };
  refused({"--validation-fraction", "0.25"}, {shop.data().string() + ": expected a labelled point in the ", "--seed"});
  clouds.parts.fill_(unlabelled_part);
  write_hdf5(shop.data() / "ply_data_test0.h5", clouds.arrays());
  refused({}, {"(test): expected a point with a label, found none among 504: train evaluates the test split at its end",
               "predict takes clouds without labels"});
}

TEST_CASE("parts are learned where they can be told apart") {
  const SegmentShop shop;
  const Words plain = {"--tokens",     "absolute", "--no-normals", "--scale-low", "1",
                       "--scale-high", "1",        "--norm",       "pre"};
  const Words faster = {"--epochs", "80", "--lr", "1e-2", "--beta2", "0.9", "--schedule", "cosine"};
  const ProcessResult result = shop.run_well(shop.train("run", plain + faster + Words{"--json"}));
  CHECK(nlohmann::json::parse(result.out).at("metrics").at("accuracy") > 0.8);
}

TEST_CASE("parts are labelled by polynomial attention over all points, which reports its degree") {
  const SegmentShop shop;
  const Words words = {"--attention", "polynomial", "--degree", "2"};
  shop.run_well(shop.train("run", words));
  const nlohmann::json json = nlohmann::json::parse(shop.run_well({"eval", (shop / "run").string(), "--json"}).out);
  CHECK(json.at("metrics").at("instance_iou") > 0);
  REQUIRE(json.at("attention").size() >= 1);
  CHECK(json.at("attention")[0].at("bound") > 0);
  CHECK(json.at("attention")[0].at("degree") == 2);
  CHECK(json.at("attention")[0].at("error_bound") > 0);
}

TEST_CASE("a training of parts that is killed or interrupted resumes bit for bit") {
  const SegmentShop shop;
  const Words longer = {"--epochs", "16", "--checkpoint-every", "2", "--ema-decay", "0.9", "--drop-token-rate", "0.1"};
  shop.run_well(shop.train("whole", longer));
  for (const int signal : {SIGKILL, SIGINT}) {
    const fs::path run = shop / ("stopped" + std::to_string(signal));
    const ProcessResult stopped =
        train_until(program_path("geosft-segment"), shop.train(run.filename().string(), longer), shop.process(),
                    run / "metrics.csv", 6, signal);
    CHECK((signal == SIGKILL ? stopped.signal == SIGKILL : stopped.exit == 130));
    shop.run_well({"train", "--resume", "--out", run.string()});
    require_same_run(shop / "whole", run);
  }
  shop.refuses({"train", "--resume", "--out", (shop / "whole").string(), "--dim", "32"}, 2, {"--resume", "--block"});
}

TEST_CASE("a finished run of parts whose data have moved is resumed and evaluated where they are now") {
  const SegmentShop shop;
  const std::filesystem::path run = shop.trained(), moved = shop / "moved";
  const nlohmann::json before = nlohmann::json::parse(read_text(run / "result.json"));
  std::filesystem::rename(shop.data(), moved);
  const ProcessResult result =
      shop.run_well({"train", "--resume", "--out", run.string(), "--data", moved.string(), "--json"});
  CHECK(nlohmann::json::parse(result.out).at("metrics") == before.at("metrics"));
  shop.run_well({"eval", run.string()});
}

// One of every version of the format: segment_checkpoint_1.ckpt is the last checkpoint of 80 epochs on a set like the
// shop's, with `--points 48 --tokens absolute_local --scale-low 1 --scale-high 1 --dim 8 --num-heads 2 --depth 1 --bins
// 8
// --batch-size 4 --lr 1e-2 --beta2 0.9 --schedule cosine`, and its prediction for a column: parts lie by height.
TEST_CASE("checkpoints of parts that earlier versions left are used and gone on from") {
  const SegmentShop shop;
  const fs::path file = earlier_checkpoint("segment_checkpoint_1"), cloud = shop / "column.xyz";
  std::ostringstream column;
  for (int i = 0; i < 120; ++i) {
    column << 0.3 * (i % 5) - 0.6 << ' ' << 0.2 * (i % 7) - 0.6 << ' ' << (i + 0.5) / 60 - 1 << " 0 0 1\n";
  }
  write_text(cloud, column.str());
  const ProcessResult predicted =
      shop.run_well({"predict", file.string(), cloud.string(), "--category", "lamp", "--device", "cpu", "--json"});
  const nlohmann::json parts = nlohmann::json::parse(predicted.out).at("parts");
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].at("part") == "lamp/top");
  CHECK(parts[0].at("points").get<double>() == Approx(50).margin(2));
  CHECK(parts[1].at("points").get<double>() == Approx(21).margin(2));
  require_goes_on(shop, file, 81);
}

TEST_CASE("the batch of parts whose loss was not finite lies in the run, passed over or not") {
  const SegmentShop shop;
  for (const char* then : {"skip", "stop"}) {
    const Checkpoint shown = non_finite_batch(shop, then);
    CHECK(shown.tensors.at("batch.labels").numel() == 4);
    CHECK(shown.tensors.at("batch.parts").numel() == shown.tensors.at("batch.points").size(0));
  }
}

TEST_CASE("a published validation split chooses the checkpoint, or is trained on") {
  const SegmentShop shop;
  write_hdf5(shop.data() / "ply_data_val0.h5", PartClouds(3, 64, 11).arrays());
  CHECK_THAT(shop.run_well(shop.train("all")).err, Catch::Contains("training on 11 clouds") &&
                                                       Catch::Contains("its validation split is trained on") &&
                                                       !Catch::Contains("more than half"));
  CHECK_THAT(shop.run_well(shop.train("many", {"--num-samples", "1000", "--epochs", "1"})).err,
             Catch::Contains("num_samples = 1000 is more than half of the "));
  const ProcessResult chosen = shop.run_well(shop.train("chosen", {"--published-validation"}));
  CHECK_THAT(chosen.err, Catch::Contains("training on 8 clouds") && !Catch::Contains("is trained on"));
  CHECK_THAT(read_text(shop / "chosen" / "metrics.csv"), Catch::Contains("validation"));
}

TEST_CASE("data that cannot be trained on are named, and leave no run behind") {
  const SegmentShop shop;
  const auto refused = [&](const Words& words, int exit, const Words& expected) {
    shop.refuses(shop.train("run", words), exit, expected);
    CHECK_FALSE(fs::exists(shop / "run"));
  };
  refused({"--data", (shop / "nothing").string()}, 1, {"nothing"});
  refused({"--published-validation"}, 1, {"val"});
  refused({"--published-validation", "--validation-fraction", "0.5"}, 2, {"published_validation"});
  refused({"--epochs", "0"}, 2, {"--epochs"});
  fs::remove(shop.data() / "ply_data_test0.h5");
  refused({}, 1, {"ply_data_test*.h5"});
  shop.refuses({"train", "--out", (shop / "run").string()}, 2, {"--data"});
  shop.refuses({"train", "--data", shop.data().string()}, 2, {"--out"});
}

TEST_CASE("parts of clouds without normals are learned with estimated ones, which is said once") {
  const SegmentShop shop;
  write_part_set(shop / "bare", 6, 4, 64, /*with_normals=*/false);
  const std::string said = "clouds have coordinates alone, so normals are estimated";
  const std::string err = shop.run_well(shop.train("run", {"--data", (shop / "bare").string()})).err;
  REQUIRE_THAT(err, Catch::Contains(said));
  CHECK(err.find(said) == err.rfind(said));
  CHECK_THAT(shop.run_well(shop.train("none", {"--data", (shop / "bare").string(), "--normals", "false"})).err,
             !Catch::Contains("estimated"));
}

TEST_CASE("ShapeNetPart's text is trained on") {
  const SegmentShop shop;
  write_shapenet_text(shop / "text");
  const ProcessResult result = shop.run_well(shop.train("run", {"--data", (shop / "text").string(), "--json"}));
  CHECK(nlohmann::json::parse(result.out).at("count") == 1);
  CHECK_THAT(result.err, Catch::Contains("training on 4 clouds of 16 classes with 50 parts"));
  // Zeros are no normals.
  const auto remove_normals = [&](const std::string& shape) {
    std::string text = read_text(shop / ("text/" + shape + ".txt"));
    for (size_t at = text.find(" 1.0 "); at != std::string::npos; at = text.find(" 1.0 ")) text.replace(at, 5, " 0 ");
    write_text(shop / ("text/" + shape + ".txt"), text);
  };
  remove_normals("03797390/m2");
  CHECK_THAT(shop.run_well({"eval", (shop / "run").string()}).err,
             Catch::Contains(": its cloud has coordinates alone, so normals are estimated"));
  remove_normals("02691156/a2");
  CHECK_THAT(shop.run_well(shop.train("some", {"--data", (shop / "text").string()})).err,
             Catch::Contains("1 of 4 clouds have coordinates alone, so their normals are estimated"));
}

TEST_CASE("labelled clouds in a folder for each class are trained on, and predictions are read like them") {
  const SegmentShop shop;
  const std::string tree = (shop / "tree").string(), run = (shop / "run").string();
  write_labelled_tree(tree);
  CHECK_THAT(shop.run_well({"info", tree, "--check"}).out,
             Catch::StartsWith("6 shapes to train with, 2 to test with, with normals\n") &&
                 Catch::Contains("lamp: 0, 1, 2\n") && Catch::Contains("mug: 0, 1\n"));
  const ProcessResult trained = shop.run_well(shop.train("run", {"--data", tree, "--json"}));
  CHECK_THAT(trained.err, Catch::Contains("training on 6 clouds of 2 classes with 5 parts"));
  const nlohmann::json metrics = nlohmann::json::parse(trained.out).at("metrics");
  CHECK(nlohmann::json::parse(shop.run_well({"eval", run, "--json"}).out).at("metrics") == metrics);
  const std::string predicted = (shop / "predicted").string();
  const Words lines = lines_of(shop.run_well({"predict", run, "--data", tree, "--ply", predicted}).out);
  CHECK(lines.size() == 8);
  const auto set = open_part_dataset(predicted, PartSplit::train);
  CHECK(set->name(0) == "lamp/0.ply.ply");
  CHECK_THAT(shop.run_well({"info", predicted}).out, Catch::StartsWith("6 shapes to train with, 2 to test with"));
  fs::remove_all(shop / "tree/mug");
  write_text(shop / "tree/lamp/0.ply", "x y z label\n");
  for (const auto& entry : fs::directory_iterator(shop / "tree/lamp")) fs::remove(entry.path());
  for (const char* file : {"1", "2", "3", "5"}) {
    write_text(shop / "tree/lamp" / (std::string(file) + ".txt"), "x y z label\n0 0 0 7\n0 1 0 7\n1 0 0 7\n");
  }
  CHECK_THAT(shop.run_well({"info", tree}).out,
             Catch::Contains("1 class, 1 part:\n  lamp: 7\n") && Catch::Contains("a training needs two or more"));
  shop.refuses(shop.train("none", {"--data", tree}), 1, {"expected two parts or more, found lamp/7 alone"});
  write_text(shop / "tree/lamp/1.txt", "x y z intensity\n0 0 0 1\n");
  shop.refuses(shop.train("none", {"--data", tree}), 1,
               {"1.txt: expected a label for each point", "found x, y, z, intensity"});
  shop.refuses(shop.train("none", {"--data", tree, "--published-validation"}), 1, {"a published validation split"});
}

TEST_CASE("predictions of labelled clouds have the labels of the set, and are read beside its clouds") {
  const SegmentShop shop;
  const std::string tree = (shop / "tree").string(), run = (shop / "run").string(), cloud = (shop / "new.xyz").string();
  for (const char* file : {"1", "2", "3", "4"}) {
    write_text(shop / "tree/cup" / (std::string(file) + ".txt"),
               "x y z label\n0 0 0 9\n0 1 0 9\n1 0 0 9\n0 0 1 4\n0 1 1 4\n1 0 1 0\n");
  }
  write_text(shop / "tree/parts.txt", "9 cup bowl\n4 cup handle\n0 cup unlabelled\n");
  write_text(cloud, "0 0 0\n0 1 0\n1 0 0\n0 0 1\n0 1 1\n1 0 1\n");
  shop.run_well(shop.train("run", {"--data", tree, "--epochs", "2"}));
  CHECK_THAT(shop.run_well({"info", run}).out, Catch::Contains("cup: 9 bowl, 4 handle\n"));
  const std::string ply = (shop / "tree/cup/new.ply").string(), labels = (shop / "labels.txt").string();
  const ProcessResult done =
      shop.run_well({"predict", run, cloud, "--ply", ply, "--labels", labels, "--json"});  // the only class
  std::map<std::string, int64_t> found;
  const nlohmann::json json = nlohmann::json::parse(done.out);
  for (const auto& part : json.at("parts")) {
    const std::string name = part.at("part");
    CHECK(part.at("label") == (name == "cup/bowl" ? 9 : 4));
    CHECK(part.at("id") == (name == "cup/bowl" ? 0 : 1));
    found[part.at("label").dump()] = part.at("points");
  }
  std::map<std::string, int64_t> written;
  for (const std::string& line : lines_of(read_text(labels))) ++written[line];
  CHECK(written == found);
  const auto set = open_part_dataset(tree, PartSplit::train);
  const Shape shape = set->get(3);
  REQUIRE(set->name(3) == "cup/new.ply");
  for (int64_t id = 0; id < 2; ++id) {
    CHECK((shape.parts == id).sum().item<int64_t>() == found[id == 0 ? "9" : "4"]);
  }
  CHECK_THAT(shop.run_well({"info", ply}).out, Catch::Contains("labels "));
  // The labels are part of the run: it does not go on with others.
  write_text(shop / "tree/parts.txt", "9 cup bowl\n0 cup handle\n4 cup unlabelled\n");
  fs::remove(ply);
  const ProcessResult resumed = shop.run({"train", "--resume", "--out", run, "--epochs", "3"});
  CHECK(resumed.exit == 1);
  CHECK_THAT(resumed.err, Catch::Contains("expected the part_labels that the run was begun with, found others"));
}

TEST_CASE("tables of parts are read as train is told") {
  const SegmentShop shop;
  write_older_shapenet_text(shop / "older");
  const auto write_points = [&](const std::string& shape, const std::string& colour, const std::string& x = "0") {
    write_text(shop / ("older/" + shape + ".pts"), "0.5 0 0 " + colour + "\n" + x + " 0.25 0 5 0 0\n0 0 -1 7 7 7\n");
  };
  write_points("02691156/points/a1", "2 3 -4");
  const Words data = {"--data", (shop / "older").string(), "--no-normals"};
  shop.refuses(shop.train("run", data), 1, {"a1.pts", "--columns x,y,z,r,g,b"});
  const Words told = data + Words{"--columns", "x,y,z,r,g,b"};
  for (const char* shape : {"02691156/points/a2", "02691156/points/a3", "03797390/points/m2"}) {
    write_points(shape, "1 2 3");
  }
  write_points("03797390/points/m1", "1 2 3", "nan");
  shop.refuses(shop.train("run", told), 1, {"m1.pts:2", "--drop-invalid"});
  const ProcessResult result = shop.run_well(shop.train("run", told + Words{"--drop-invalid", "--json"}));
  REQUIRE(nlohmann::json::parse(result.out).at("count") == 1);
  REQUIRE_THAT(read_text(shop / "run" / "config.toml"),
               Catch::Contains("columns = \"x,y,z,r,g,b\"\ndrop_invalid = true\n"));
  REQUIRE(nlohmann::json::parse(shop.run_well({"eval", (shop / "run").string(), "--json"}).out).at("count") == 1);
  shop.refuses(shop.train("other", data + Words{"--columns", "x,y"}), 2, {"--columns", "x, y and z"});
}

TEST_CASE(
    "a shape that is deleted in the middle of a training of parts is named, and the run goes on when it is back") {
  const SegmentShop shop;
  write_shapenet_text(shop / "text");
  const Words words = {"--data", (shop / "text").string(), "--epochs", "16", "--checkpoint-every", "2"};
  shop.run_well(shop.train("whole", words));
  const fs::path run = shop / "run";
  const ProcessResult ended =
      train_until(program_path("geosft-segment"), shop.train("run", words), shop.process(), run / "metrics.csv", 5,
                  [&](const Process&) { fs::rename(shop / "text", shop / "away"); });
  shop.require_failure(ended, 1, {(shop / "text").string(), "nothing of this name"});
  CHECK_NOTHROW(load_checkpoint(run / "last.ckpt"));
  fs::rename(shop / "away", shop / "text");
  shop.run_well({"train", "--resume", "--out", run.string()});
  require_same_run(shop / "whole", run);
}

// Address space that a sanitizer reserves would count, too.
#ifndef __SANITIZE_ADDRESS__
TEST_CASE("a run whose evaluation takes more memory than there is says so, and keeps what it has") {
  const SegmentShop shop;
  write_part_set(shop.data(), 8, 4, 64, /*with_normals=*/false);
  PartClouds large(2, 1'000'000, 5);
  write_hdf5(shop.data() / "ply_data_test0.h5", large.arrays(/*with_normals=*/false));
  ProcessOptions little = shop.process();
  little.memory = rlim_t{2500} << 20;
  const Words words = {"--no-normals", "--no-canonical-order", "--dim", "64"};
  const ProcessResult ended = run_process(program_path("geosft-segment"), shop.train("run", words), little);
  shop.require_failure(ended, 1, {"out of memory", "bytes", "--evaluation-batch"});
  for (const char* name : {"best.ckpt", "last.ckpt"}) CHECK_NOTHROW(load_checkpoint(shop / "run" / name));
  const ProcessResult small = run_process(program_path("geosft-segment"),
                                          {"eval", (shop / "run").string(), "--split", "train", "--json"}, little);
  INFO(small.err);
  CHECK(small.exit == 0);
}
#endif

TEST_CASE("the Princeton parts are trained on and found again, whatever the pose") {
  const fs::path data = real_data("psb_parts");
  if (data.empty()) return;
  const SegmentShop shop;
  const Words words = {"--data", data.string(), "--epochs", "1", "--points", "256", "--block", "256", "--json"};
  const nlohmann::json upright = nlohmann::json::parse(shop.run_well(shop.train("run", words)).out);
  CHECK(upright.at("count") == 95);
  CHECK(upright.at("classes").size() == 19);
  CHECK(upright.at("metrics").at("instance_iou") > 0.05);
  const ProcessResult moved = shop.run_well({"eval", (shop / "run").string(), "--rotate", "so3", "--json"});
  const nlohmann::json turned = nlohmann::json::parse(moved.out);
  CHECK(turned.at("upright") == upright.at("metrics"));
  CHECK(std::abs(turned.at("lost_points").get<double>()) < 0.1);
}

}  // namespace geosft::test::test_segment_train_command
