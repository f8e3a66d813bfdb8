// SPDX-License-Identifier: Apache-2.0
// geosft-sequence on folders of pictures, end to end.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/places.h"
#include "tests/tools/experiment/workshop.h"
#include "tools/experiment/report_texts.h"

namespace geosft::test::test_picture_experiment {
namespace {

namespace fs = std::filesystem;

// Three shapes in small pictures.
class PictureShop : public Workshop {
 public:
  PictureShop()
      : Workshop(
            "geosft-sequence", program_path("geosft-sequence"),
            [](const auto& folder) {
              const ProcessResult made = run_process(
                  program_path("geosft-sequence"),
                  Words{"generate", "pictures", "--out", folder.string(), "--classes", "3", "--train", "120"} +
                      Words{"--validation", "30", "--min-side", "24", "--max-side", "32", "--seed", "1"},
                  {});
              INFO(made.err);
              REQUIRE(made.exit == 0);
              CHECK_THAT(made.out, Catch::Contains("120 pictures") && Catch::Contains("30 pictures"));
            },
            Words{"--seed", "1", "--epochs", "2", "--batch-size", "40", "--lr", "2e-3", "--image-size", "16"} +
                Words{"--patch-size", "4", "--dim", "24", "--num-heads", "4", "--depth", "2", "--beta2", "0.95"} +
                Words{"--norm", "pre", "--no-relative", "--positions", "learned", "--head", "class_token"} +
                Words{"--min-crop-area", "0.6", "--token-dropout", "0", "--feed-forward-dropout", "0"}) {}
};

}  // namespace

TEST_CASE("pictures are learned from their files, and the better the longer") {
  const PictureShop shop;
  const std::string trained =
      shop.run_well(shop.train("run", {"--attention", "softmax", "--epochs", "40", "--json"})).out;
  const nlohmann::json metrics = nlohmann::json::parse(trained).at("metrics");
  CHECK(metrics.at("accuracy") > 0.5);        // a third by chance
  CHECK(metrics.at("top5_accuracy") == 1.0);  // of three classes
  const std::string run = (shop / "run").string();
  const nlohmann::json evaluated = nlohmann::json::parse(shop.run_well({"eval", run, "--json"}).out);
  CHECK(evaluated.at("metrics") == metrics);
  CHECK(evaluated.at("count") == 30);
  CHECK(evaluated.contains("pictures_per_second"));
  CHECK_THAT(shop.run_well({"eval", run}).out, Catch::Contains("30 pictures of the test split"));
  CHECK(lines_of(shop.run_well({"predict", run, "--split", "test", "--json"}).out).size() == 30);
}

TEST_CASE("the report of pictures names their files, and has the figures of eval") {
  const PictureShop shop;
  shop.run_well(shop.train("run", {"--attention", "softmax", "--epochs", "1", "--lr", "1e-6"}));
  const std::string run = (shop / "run").string();
  const nlohmann::json metrics = nlohmann::json::parse(shop.run_well({"eval", run, "--json"}).out).at("metrics");
  CHECK(shop.run_well({"report", run, "--mistakes", "2"}).out == run + "/report.html\n");
  const std::string page = read_text(shop / "run" / "report.html");
  CHECK_THAT(page, Catch::Contains("30 pictures of the test split") && Catch::Contains("<td>3 classes</td>") &&
                       Catch::Contains("accuracy " + percent(metrics.at("accuracy"))) &&
                       Catch::Contains("top5_accuracy 100.0 %") && Catch::Contains("val/"));
  CHECK(count_of(page, "<section ") == 2);
}

TEST_CASE("pictures are trained on with every attention of the paper, and by drop path") {
  const PictureShop shop;
  for (const Words& attention : {Words{"bn"}, Words{"sh"}, Words{"bn_sh", "--drop-path", "0.2"}, Words{"conv2d"}}) {
    INFO(attention[0]);
    const std::string result = shop.run_well(shop.train(attention[0], Words{"--json", "--attention"} + attention)).out;
    CHECK(nlohmann::json::parse(result).at("count") == 30);
  }
}

TEST_CASE("any picture is predicted by a trained model, and broken ones are named") {
  const PictureShop shop;
  shop.run_well(shop.train("run", {"--attention", "softmax"}));
  const std::string run = (shop / "run").string();
  std::vector<std::string> files;
  for (const char* shape : {"disc", "square"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(shop.data() / "val" / shape)) {
      files.push_back(entry.path().string());
    }
  }
  const ProcessResult predicted = shop.run_well(Words{"predict", run, "--json"} + Words{files[0], files[11]});
  const std::vector<std::string> lines = lines_of(predicted.out);
  REQUIRE(lines.size() == 2);
  const nlohmann::json first = nlohmann::json::parse(lines[0]);
  CHECK((first.at("file") == files[0] && first.contains("class") && first.at("top").size() == 3));
  const std::string broken = files[1];
  write_text(broken, read_text(broken).substr(0, 150));
  shop.refuses({"predict", run, broken}, 1, {broken});
  const ProcessResult described = shop.run({"info", shop.data().string()});
  CHECK(described.exit == 1);
  CHECK_THAT(described.err, Catch::Contains("1 that cannot: mend or remove them"));
  CHECK_THAT(described.out, Catch::Contains("150 pictures") && Catch::Contains("1 cannot be read") &&
                                Catch::Contains(broken) && Catch::Contains("disc (50)"));
  CHECK(nlohmann::json::parse(shop.run({"info", shop.data().string(), "--json"}).out).at("broken").size() == 1);
  const ProcessResult stopped = shop.run({"eval", run});
  CHECK(stopped.exit == 1);
  CHECK_THAT(stopped.err, Catch::Contains(broken));
}

TEST_CASE("options of pictures that do not fit are refused by name") {
  const PictureShop shop;
  const auto refused = [&](const Words& more, const Words& named) {
    shop.refuses(shop.train("refused", Words{"--attention", "softmax"} + more), 2, named);
  };
  refused({"--patch-size", "5"}, {"patch_size", "image_size", "5", "16"});
  refused({"--drop-token-rate", "0.1"}, {"drop_token_rate", "learned"});
  refused({"--max-length", "3"}, {"max_length", "pictures"});
  refused({"--no-residual", "--drop-path", "0.1"}, {"drop_path"});
  const auto generate = [&](const Words& more, const Words& named) {
    shop.refuses(Words{"generate", "pictures", "--out", (shop / "more").string()} + more, 2, named);
  };
  generate({"--min-side", "50", "--max-side", "40"}, {"--min-side", "50"});
  generate({"--train", "3"}, {"--train", "4"});
  generate({"--dashes", "3"}, {"--dashes", "pathfinder", "pictures"});
}

}  // namespace geosft::test::test_picture_experiment
