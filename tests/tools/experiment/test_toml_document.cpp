// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/toml_document.h"

#include "tests/data/files.h"
#include "tests/support.h"
#include "tools/experiment/arguments.h"

#include <catch2/catch.hpp>

namespace geosft::test::test_toml_document {

TEST_CASE("values of a document are told with their line") {
  const toml::table document = parse_toml("a = 1\nb = [2, 'x']\n", "file");
  CHECK(toml_text(*document.get("b")) == "[ 2, 'x' ]");
  require_error([&] { fail_toml("file", *document.get("b"), "is wrong"); }, {"file:2: is wrong"});
}

TEST_CASE("broken TOML and files that cannot be read are wrong use") {
  const TemporaryFolder folder;
  write_text(folder / "a.toml", "a = 1\nb = \n");
  CHECK(read_toml_text(folder / "a.toml") == "a = 1\nb = \n");
  CHECK_THROWS_AS(parse_toml("a = 1\nb = \n", "file"), UsageError);
  require_error([] { parse_toml("a = 1\nb = \n", "file"); }, {"file:2: "});
  CHECK_THROWS_AS(read_toml_text(folder / "none.toml"), UsageError);
}

}  // namespace geosft::test::test_toml_document
