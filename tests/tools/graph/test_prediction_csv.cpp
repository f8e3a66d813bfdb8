// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/prediction_csv.h"

#include <catch2/catch.hpp>

namespace geosft::test::test_prediction_csv {

TEST_CASE("a table of predictions has the columns of its inputs, and a row for what is broken", "[prediction_csv]") {
  PredictedRow first{"a.csv", "0", "CO"}, broken{"a.csv", "1", "C(C"}, missing{"absent.smi", "", ""};
  first.line = "2";
  first.smiles = "CO";
  first.others = {{"id", "M 1"}, {"active", "1"}};
  first.prediction = {"0.75"};
  broken.line = "3";
  broken.smiles = "C(C";
  broken.others = {{"id", "M,2"}};
  broken.error = "invalid SMILES: unclosed";
  missing.error = "nothing of this name";
  CHECK(prediction_csv("graph", {"active"}, {first, broken, missing}) ==
        "file,graph,name,line,smiles,id,input_active,active,error\n"
        "a.csv,0,CO,2,CO,M 1,1,0.75,\n"
        "a.csv,1,C(C,3,C(C,\"M,2\",,,invalid SMILES: unclosed\n"
        "absent.smi,,,,,,,,nothing of this name\n");
}

TEST_CASE("a table of predictions has a column of lines only if a row has one", "[prediction_csv]") {
  PredictedRow row{"set", "0", ""};
  row.smiles = "CO";
  row.prediction = {"0.75"};
  CHECK(prediction_csv("graph", {"active"}, {row}) == "file,graph,name,smiles,active,error\nset,0,,CO,0.75,\n");
}

TEST_CASE("a table of predictions without molecules has no columns of SMILES", "[prediction_csv]") {
  PredictedRow row{"b.edges", "0", ""};
  row.prediction = {"x", "1.0"};
  CHECK(prediction_csv("graph", {"class", "probability"}, {row}) ==
        "file,graph,name,class,probability,error\nb.edges,0,,x,1.0,\n");
}

}  // namespace geosft::test::test_prediction_csv
