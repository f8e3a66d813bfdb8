// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/class_counts.h"

#include <catch2/catch.hpp>

namespace geosft::test::test_class_counts {

TEST_CASE("recall, precision and F1 of each class follow from the confusion matrix") {
  const at::Tensor confusion = at::tensor({3, 1, 0, 2, 2, 0, 0, 0, 0}, at::kLong).view({3, 3});
  const std::vector<ClassCounts> classes = class_counts(confusion, {"cup", "mug", "pot"});
  REQUIRE(classes.size() == 3);
  CHECK(classes[0].items == 4);
  CHECK(classes[0].predicted == 5);
  CHECK(classes[1].guesses == std::vector<int64_t>{2, 2, 0});
  CHECK(*classes[0].recall() == Approx(3.0 / 4));
  CHECK(*classes[0].precision() == Approx(3.0 / 5));
  CHECK(*classes[0].f1() == Approx(6.0 / 9));
  CHECK_FALSE(classes[2].recall().has_value());
  using Rows = std::vector<std::vector<std::string>>;
  CHECK(class_rows(classes, "graphs") == Rows{{"class", "graphs", "predicted", "recall", "precision", "F1"},
                                              {"cup", "4", "5", "75.0 %", "60.0 %", "66.7 %"},
                                              {"mug", "4", "3", "50.0 %", "66.7 %", "57.1 %"},
                                              {"pot", "0", "0", "-", "-", "-"}});
}

}  // namespace geosft::test::test_class_counts
