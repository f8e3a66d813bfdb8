// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/run_figures.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "data/checkpoint.h"
#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_run_figures {
namespace {

constexpr const char* result = R"({"checkpoint": {"file": "best.ckpt", "epoch": 7, "chosen_by": "validation"},
  "count": 12, "split": "test", "rotation": "none", "metrics": {"accuracy": 0.75, "loss": 1.25, "roc_auc": null}})";

void write_best(const std::filesystem::path& folder, const std::string& epoch) {
  save_checkpoint(folder / "best.ckpt", {{}, {{"epoch", epoch}, {"chosen_by", "validation"}}});
}

}  // namespace

TEST_CASE("the figures of a run are those of its result, with the checkpoint that they are of") {
  const TemporaryFolder folder;
  const std::filesystem::path run = folder.path();
  CHECK(run_figures(run).empty());
  write_text(run / "config.toml", "");
  CHECK(run_figures(run).empty());
  CHECK(figures_text(run_figures(run)).empty());
  write_text(run / "result.json", result);
  write_best(run, "7");
  const std::string line =
      "result.json: 12 items of the test split: accuracy 75.0 %, loss 1.25, roc_auc unknown; of best.ckpt, epoch 7, "
      "chosen by: validation";
  CHECK(run_figures(run) == nlohmann::json{{"result", nlohmann::json::parse(result)}});
  CHECK(figures_text(run_figures(run)) == line + "\n");
  CHECK(run_figures(run / "best.ckpt") == run_figures(run));
  nlohmann::json averaged = nlohmann::json::parse(result);
  averaged["checkpoint"]["averaged_with"] = "4 more models and a kernel ridge regression";
  CHECK(figures_text({{"result", averaged}}) == line + ", averaged with 4 more models and a kernel ridge regression\n");
  write_text(run / "last.ckpt", "");
  CHECK(run_figures(run / "last.ckpt").empty());
  write_best(run, "9");  // of a run that goes on
  CHECK(figures_text(run_figures(run)) == line + "; best.ckpt is of epoch 9 now, which eval measures\n");
  write_text(run / "result.json", "{}");
  require_error([&] { run_figures(run); }, {"result.json", "the evaluation of a run"});
  write_text(run / "result.json", "{");
  require_error([&] { run_figures(run); }, {"result.json", "the evaluation of a run"});
}

TEST_CASE("the scores of a card have a line each") {
  const nlohmann::json figures = {
      {"scores",
       {{{"count", 3}, {"split", "test"}, {"rotation", "so3"}, {"metrics", {{"instance_iou", 0.5}}}},
        {{"count", 3}, {"split", "test"}, {"normals", "estimated"}, {"metrics", {{"instance_iou", 0.25}}}}}}};
  CHECK(figures_text(figures) ==
        "its card: 3 items of the test split, rotation so3: instance_iou 50.0 %\n"
        "its card: 3 items of the test split, with estimated normals: instance_iou 25.0 %\n");
}

}  // namespace geosft::test::test_run_figures
