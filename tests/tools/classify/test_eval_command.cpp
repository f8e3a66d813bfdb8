// SPDX-License-Identifier: Apache-2.0
// geosft-classify eval, end to end.
#include <catch2/catch.hpp>

#include "data/checkpoint.h"
#include "tests/tools/classify/classify_tool.h"

namespace geosft::test::test_eval_command {
namespace fs = std::filesystem;

TEST_CASE("a classifier with attention over all points reports the degree that a tolerance took") {
  const ClassifyShop shop;
  shop.run_well(shop.train("all", {"--attention", "polynomial", "--tolerance", "0.1", "--or-exact"}));
  const ProcessResult text = shop.run_well({"eval", (shop / "all").string()});
  CHECK_THAT(text.out, Catch::Contains("layer 1: scores up to "));
  const std::string out = shop.run_well({"eval", (shop / "all").string(), "--json"}).out;
  const nlohmann::json layers = nlohmann::json::parse(out).at("attention");
  REQUIRE(layers.size() == 1);
  CHECK(layers[0].at("error_bound") <= 0.1);
}

TEST_CASE("eval measures a run upright and rotated") {
  const ClassifyShop shop;
  const std::string run = shop.trained();
  const auto evaluate = [&](const std::string& rotation, const std::string& repeats) {
    const ProcessResult result = shop.run_well({"eval", run, "--rotate", rotation, "--repeats", repeats, "--json"});
    REQUIRE(lines_of(result.out).size() == 1);
    return nlohmann::json::parse(result.out);
  };
  const nlohmann::json upright = evaluate("none", "1"), z = evaluate("z", "2"), so3 = evaluate("so3", "3");
  check_evaluation(upright, "none", 1);
  check_evaluation(z, "z", 2);
  check_evaluation(so3, "so3", 3);
  const nlohmann::json classes = so3.at("classes"), confusion = so3.at("confusion");
  REQUIRE(classes.size() == 3);
  double right = 0;
  for (size_t label = 0; label < 3; ++label) {
    CHECK(classes[label].at("clouds") == 6);  // 3 copies of 2
    int64_t predicted = 0;
    for (const auto& row : confusion) predicted += row.at(label).get<int64_t>();
    CHECK(classes[label].at("predicted") == predicted);
    CHECK(classes[label].at("recall").get<double>() == Approx(confusion[label][label].get<double>() / 6));
    right += confusion[label][label].get<double>();
  }
  CHECK(so3.at("metrics").at("accuracy").get<double>() == Approx(right / 18));
  CHECK(upright.at("accuracy_interval")[0] <= upright.at("metrics").at("accuracy"));
  CHECK(upright.at("accuracy_interval")[1] >= upright.at("metrics").at("accuracy"));
  const nlohmann::json result = nlohmann::json::parse(read_text(fs::path(run) / "result.json"));
  for (const char* key : {"metrics", "checkpoint"}) CHECK(upright.at(key) == result.at(key));
  for (const nlohmann::json& rotated : {z, so3}) {
    CHECK(rotated.at("metrics").at("accuracy") == upright.at("metrics").at("accuracy"));
    CHECK(rotated.at("max_unflipped_difference") < 1e-4);
    CHECK(rotated.at("flipped_share") < 0.2);
    CHECK(rotated.at("prediction_agreement") == 1.0);
  }
  const std::string text = shop.run_well({"eval", run}).out;
  for (const char* word : {"6 clouds of the test set, upright", "accuracy", "cube", "sphere", "tetrahedron"}) {
    CHECK_THAT(text, Catch::Contains(word));
  }
  CHECK_THAT(text,
             Catch::EndsWith("evaluated: " + run + "/best.ckpt, epoch 3 of 3, the last one (no validation split)\n"));
  const std::string train = shop.run_well({"eval", run, "--split", "train", "--json", "--points", "32"}).out;
  CHECK(nlohmann::json::parse(train).at("count") == 15);
}

TEST_CASE("eval and report take the clouds that a training held out, or those that it learned from") {
  const ClassifyShop shop;
  const std::string run = (shop / "held_out").string();
  shop.run_well(shop.train("held_out") + Words{"--validation-fraction", "0.2"});
  const auto evaluated = [&](const Words& words) {
    return nlohmann::json::parse(shop.run_well(Words{"eval", run, "--json"} + words).out);
  };
  const nlohmann::json held_out = evaluated({"--split", "validation"}), learned = evaluated({"--split", "train"});
  CHECK((held_out.at("count") == 3 && learned.at("count") == 12));
  for (size_t label = 0; label < 3; ++label) {
    CHECK((held_out.at("classes")[label].at("clouds") == 1 && learned.at("classes")[label].at("clouds") == 4));
  }
  const std::string page = (shop / "page.html").string();
  shop.run_well({"report", run, "--split", "validation", "--out", page});
  CHECK_THAT(read_text(page), Catch::Contains("3 clouds of the validation set"));
  shop.require_failure(shop.run({"eval", run, "--split", "validation", "--other-data"}), 1,
                       {"held some out", "--split validation", "other data"});
  shop.refuses({"eval", shop.trained(), "--split", "validation"}, 1, {"validation", "none in", "split.csv"});
}

TEST_CASE("eval and report say how data that moved are named") {
  const ClassifyShop shop;
  const std::string run = shop.trained(), moved = (shop / "moved").string();
  fs::rename(shop.data(), moved);
  for (const char* command : {"eval", "report"}) {
    shop.refuses({command, run}, 1, {shop.data().string(), run + " was trained on", "recorded", "--data DIR", "now"});
  }
  shop.require_failure(shop.run({"train", "--resume", "--out", run, "--epochs", "4"}), 1,
                       {shop.data().string(), run, "--data DIR"});
  CHECK_THAT(shop.run_well({"eval", run, "--data", moved}).out, Catch::Contains("expected calibration error 0."));
}

TEST_CASE("eval and report refuse test clouds that the training did not have as such, unless they are of other data") {
  const ClassifyShop shop;
  const std::string run = shop.trained(), data = shop.data().string();
  const fs::path test = shop.data() / "test" / "cube";
  const std::string upright = shop.run_well({"eval", run, "--json"}).out;
  // As if the files had been sorted into the two splits anew: a cube that was trained on is tested with.
  fs::rename(test / "cube_5.off", shop / "cube_5.off");
  fs::copy(shop.data() / "train" / "cube" / "cube_0.off", test / "cube_0.off");
  for (const char* command : {"eval", "report"}) {
    shop.require_failure(
        shop.run({command, run}), 1,
        {data, run + "/split.csv", "item 0 was '", "cube_5.off' of the test split", "cube_0.off", "--other-data"});
  }
  shop.require_failure(shop.run({"eval", run + "/best.ckpt"}), 1, {run + "/split.csv", "--other-data"});
  const std::string warning =
      data + ": these are the data of the training; without --other-data, its test clouds are taken";
  const ProcessResult other = shop.run_well({"eval", run, "--other-data", "--json"});
  CHECK(nlohmann::json::parse(other.out).at("count") == 6);
  CHECK_THAT(other.err, Catch::Contains(warning));
  CHECK_THAT(shop.run_well({"eval", run, "--other-data", "--data", data + "/."}).err, Catch::Contains(warning));
  shop.run_well({"report", run, "--other-data"});
  // The training clouds are those that were trained on.
  shop.run_well({"eval", run, "--split", "train"});
  fs::rename(shop / "cube_5.off", test / "cube_5.off");
  shop.require_failure(shop.run({"eval", run}), 1, {"7 items in place of 6", "item 0 was '"});
  fs::remove(test / "cube_0.off");
  CHECK(nlohmann::json::parse(shop.run_well({"eval", run, "--json"}).out).at("metrics") ==
        nlohmann::json::parse(upright).at("metrics"));
  fs::remove(shop.data() / "train" / "cube" / "cube_0.off");
  shop.require_failure(shop.run({"eval", run, "--split", "train"}), 1, {"14 items in place of 15"});
  fs::remove(fs::path(run) / "split.csv");  // as runs of earlier versions
  CHECK_THAT(shop.run_well({"eval", run, "--split", "train"}).err,
             Catch::Contains("all training clouds are taken, since there is no " + run + "/split.csv"));
  shop.refuses({"predict", run, (test / "cube_5.off").string(), "--other-data"}, 2, {"--other-data", "predict"});
}

TEST_CASE("eval takes all files of another folder without a split, and reads them as its options say") {
  const ClassifyShop shop;
  const std::string run = shop.trained(), flat = (shop / "flat").string();
  fs::copy(shop.data() / "train", flat, fs::copy_options::recursive);
  const auto count = [&](const Words& more) {
    const ProcessResult result = shop.run_well(Words{"eval", run, "--data", flat, "--other-data", "--json"} + more);
    CHECK_THAT(result.err,
               Catch::Contains(flat + " has no folders train and test: ") && !Catch::Contains("data of the training"));
    return nlohmann::json::parse(result.out).at("count").get<int64_t>();
  };
  CHECK(count({}) == 15);
  CHECK(count({"--test-every", "5"}) == 3);
  CHECK_THAT(shop.run_well({"eval", run, "--data", flat, "--other-data", "--test-every", "5"}).err,
             Catch::Contains("3 of its 15 files, one in 5 of each class, are its test set (--test-every 0: all)"));
  write_text(fs::path(flat) / "sphere" / "hole.xyz", sphere_xyz(1.0) + "nan nan nan 0 0 1\n");
  const Words other = {run, "--data", flat, "--other-data"};
  for (const char* command : {"eval", "report"}) {
    shop.require_failure(shop.run(Words{command} + other), 1, {"hole.xyz", "--drop-invalid"});
    shop.run_well(Words{command} + other + Words{"--drop-invalid"});
  }
  CHECK(count({"--drop-invalid"}) == 16);
  const ProcessResult broken = shop.run({"info", flat, "--check"});
  CHECK(broken.exit == 1);
  CHECK_THAT(broken.err, Catch::Contains("1 of 16 files are broken"));
  shop.run_well({"info", flat, "--check", "--drop-invalid"});
  shop.require_failure(shop.run(Words{"eval"} + other + Words{"--columns", "x,y"}), 2, {"--columns"});
  shop.refuses({"predict", run, flat, "--test-every", "2"}, 2, {"--test-every", "predict"});
}

TEST_CASE("options of reading files are refused for arrays by every command that has them") {
  const ClassifyShop shop;
  const std::string run = shop.trained(), arrays = (shop / "arrays").string();
  shop.run_well({"export", shop.data().string(), "--out", arrays, "--points", "50"});
  const Words of_run = {run, "--data", arrays, "--other-data"};
  for (const Words& command : {Words{"eval"} + of_run, Words{"report"} + of_run, Words{"info", arrays, "--check"},
                               Words{"export", arrays, "--out", (shop / "more").string()}}) {
    shop.refuses(command + Words{"--columns", "x,y,z"}, 2, {"--columns is for tables", "not for " + arrays});
    shop.refuses(command + Words{"--drop-invalid"}, 2, {"--drop-invalid is for files of points, not for " + arrays});
    shop.run_well(command);
  }
  shop.refuses(shop.train("of_arrays", {"--data", arrays, "--drop-invalid"}), 2,
               {"--drop-invalid is for files of points, not for " + arrays});
}

TEST_CASE("a model of absolute coordinates is seen to depend on the pose") {
  const ClassifyShop shop;
  shop.run_well(shop.train("run", {"--tokens", "absolute", "--epochs", "1"}));
  const std::string out = shop.run_well({"eval", (shop / "run").string(), "--rotate", "so3", "--json"}).out;
  CHECK(nlohmann::json::parse(out).at("max_logit_difference") > 1e-2);
  CHECK(nlohmann::json::parse(out).at("flipped_share") > 0.5);
}

TEST_CASE("checkpoints that are broken or of something else are refused") {
  const ClassifyShop shop;
  const fs::path run = shop.trained(), file = shop / "wrong.ckpt";
  const Checkpoint good = load_checkpoint(run / "best.ckpt");
  const auto refused = [&](const Words& expected) {
    shop.refuses({"eval", file.string()}, 1, Words{"wrong.ckpt"} + expected);
  };
  const std::string bytes = read_text(run / "best.ckpt");
  for (const size_t kept : {size_t{0}, size_t{10}, bytes.size() / 2, bytes.size() - 1}) {
    write_text(file, bytes.substr(0, kept));
    refused({"expected"});
  }
  std::string damaged = bytes;
  damaged[bytes.size() / 2] = static_cast<char>(damaged[bytes.size() / 2] ^ 1);
  write_text(file, damaged);
  refused({"expected"});
  Checkpoint other = good;
  other.texts.at("kind") = "geosft-graph";
  save_checkpoint(file, other);
  refused({"geosft-classify", "geosft-graph"});
  other = good;
  std::string& config = other.texts.at("config");
  config.replace(config.find("\ndim = 16"), 9, "\ndim = 32");
  save_checkpoint(file, other);
  refused({"shape"});
  other = good;
  other.texts.at("config") = "[model]\nwitdh = 16\n";
  save_checkpoint(file, other);
  refused({"'witdh'"});
}

TEST_CASE("a model is evaluated on some of its classes, not on others; missing normals are estimated, which is said") {
  const ClassifyShop shop;
  const std::string run = shop.trained();
  const fs::path other = shop / "other";
  fs::copy(shop.data(), other, fs::copy_options::recursive);
  for (const char* split : {"train", "test"}) fs::remove_all(other / split / "cube");
  const ProcessResult some = shop.run_well({"eval", run, "--data", other.string(), "--other-data", "--json"});
  CHECK_THAT(some.err, Catch::Contains("its 2 classes are among the 3 of the model, by name"));
  CHECK(nlohmann::json::parse(some.out).at("count") == 4);
  fs::rename(other / "test" / "sphere", other / "test" / "ball");
  shop.require_failure(shop.run({"eval", run, "--data", other.string()}), 1,
                       {other.string(), "3 classes of the trained model", "does not know 1, ball", "--init-from"});
  fs::remove_all(other);
  fs::copy(shop.data(), other, fs::copy_options::recursive);
  write_text(other / "test" / "sphere" / "bare.xyz", sphere_xyz(1.0, 50, /*normals=*/false));
  const ProcessResult estimated = shop.run_well({"eval", run, "--data", other.string(), "--other-data"});
  CHECK_THAT(estimated.err, Catch::Contains((other / "test" / "sphere" / "bare.xyz").string()) &&
                                Catch::Contains("normals are estimated"));
}

}  // namespace geosft::test::test_eval_command
