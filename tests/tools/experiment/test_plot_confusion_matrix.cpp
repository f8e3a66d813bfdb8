// SPDX-License-Identifier: Apache-2.0
#include "tests/support.h"
#include "tests/tools/experiment/pictures.h"
#include "tools/experiment/plots.h"

namespace geosft::test::test_plot_confusion_matrix {

namespace {

std::vector<std::string> class_names(int64_t count) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i) names.push_back("class " + std::to_string(i));
  return names;
}

}  // namespace

TEST_CASE("a confusion matrix shows counts, names and the share that is right") {
  const test::PictureFolder folder;
  const at::Tensor counts = at::tensor({17, 3, 0, 40}, at::kLong).view({2, 2});
  const PlotResult result = plot_confusion_matrix(counts, {"it's_a 100%d", "<b>&x"}, folder.stem(), "some {title}^2");
  if (!test::require_picture(result, folder)) return;
  const std::string svg = folder.svg();
  for (const std::string text :
       {">17<", ">3<", ">40<", "57 of 60 right (95.0 %)", "some {title}^2", "it's_a 100%d", "&lt;b>&amp;x"}) {
    INFO(text);
    CHECK(svg.find(text) != std::string::npos);
  }
  CHECK(test::occurrences(svg, "it's_a 100%d") == 2);
}

TEST_CASE("matrices of one, many and no clouds are drawn") {
  for (const int64_t classes : {1, 13, 40}) {
    const test::PictureFolder folder;
    const at::Tensor counts = at::eye(classes, at::kLong) * 1234567;
    test::require_picture(plot_confusion_matrix(counts, class_names(classes), folder.stem(), "many"), folder);
  }
  const test::PictureFolder folder;
  const PlotResult empty = plot_confusion_matrix(at::zeros({3, 3}, at::kLong), class_names(3), folder.stem(), "none");
  if (test::require_picture(empty, folder)) CHECK(folder.svg().find("0 of 0 right<") != std::string::npos);
}

TEST_CASE("a long class name is cut between letters") {
  const test::PictureFolder folder;
  std::string name;
  for (int i = 0; i < 60; ++i) name += "ü";
  const PlotResult result = plot_confusion_matrix(at::ones({1, 1}, at::kLong), {name}, folder.stem(), "long");
  if (!test::require_picture(result, folder)) return;
  CHECK(folder.svg().find("ü…") != std::string::npos);
  CHECK(folder.svg().find(name.substr(0, 2 * 25)) == std::string::npos);
}

TEST_CASE("counts that do not fit the names are refused") {
  const test::PictureFolder folder;
  const auto refuse = [&](const at::Tensor& counts, int64_t classes) {
    test::require_error([&] { plot_confusion_matrix(counts, class_names(classes), folder.stem(), "x"); },
                        {"counts", "C = " + std::to_string(classes)});
  };
  refuse(at::ones({2, 3}, at::kLong), 2);
  refuse(at::ones({2, 2}, at::kLong), 3);
  refuse(at::ones({4}, at::kLong), 4);
  refuse(at::ones({2, 2}, at::kFloat), 2);
  refuse(at::ones({0, 0}, at::kLong), 0);
}

}  // namespace geosft::test::test_plot_confusion_matrix
