// SPDX-License-Identifier: Apache-2.0
// geosft-graph fetch, end to end, from an archive on this machine.
#include <catch2/catch.hpp>

#include "tests/data/zip_files.h"
#include "tests/tools/graph/graph_tool.h"

namespace geosft::test::test_graph_fetch_command {
namespace fs = std::filesystem;

namespace {

// Writes the tiny set as the archive MUTAG.zip, with a folder around its files as in the published one.
void write_archive(const fs::path& scratch, const fs::path& archive) {
  write_tiny_graphs(scratch, "MUTAG");
  std::vector<std::pair<std::string, std::string>> members;
  for (const auto& entry : fs::directory_iterator(scratch)) {
    members.emplace_back("MUTAG/" + entry.path().filename().string(), read_text(entry.path()));
  }
  fs::create_directories(archive.parent_path());
  write_zip(archive, members);
}

}  // namespace

TEST_CASE("fetch leaves a set that can be trained on, and train names the command") {
  const GraphShop shop;
  write_archive(shop / "scratch", shop / "server" / "MUTAG.zip");
  const std::string to = (shop / "datasets").string(), mirror = "file://" + (shop / "server").string();
  const Words fetch = {"fetch", "mutag", "--to", to, "--mirror", mirror};
  shop.require_failure(shop.run(shop.train("run", {"--data", (shop / "MUTAG").string()})), 1,
                       {"MUTAG", "nothing of this name", "`geosft-graph fetch MUTAG --to "});
  CHECK_FALSE(fs::exists(shop / "run"));
  // The tiny set has other checksums.
  shop.require_failure(shop.run(fetch), 1, {"MUTAG_A.txt", "SHA-256", "--any-version"});
  CHECK_FALSE(fs::exists(shop / "datasets" / "MUTAG"));
  CHECK(shop.run_well(fetch + Words{"--any-version"}).out == to + "/MUTAG\n");
  CHECK_FALSE(fs::exists(shop / "datasets" / "MUTAG.zip"));
  shop.run_well(shop.train("run", {"--data", to + "/MUTAG", "--epochs", "1"}));
  CHECK_THAT(shop.run_well(fetch).err, Catch::Contains("is there already"));
}

TEST_CASE("without network an archive that lies in the folder is unpacked, and the message says so") {
  const GraphShop shop;
  const std::string to = (shop / "datasets").string();
  const Words fetch = {"fetch", "MUTAG", "--to", to, "--any-version"};
  shop.require_failure(shop.run(fetch + Words{"--mirror", "http://127.0.0.1:9"}), 1,
                       {"cannot download http://127.0.0.1:9/MUTAG.zip", to + "/MUTAG.zip"});
  CHECK(fs::is_empty(to));
  write_archive(shop / "scratch", shop / "datasets" / "MUTAG.zip");
  shop.run_well(fetch);
  CHECK(fs::exists(shop / "datasets" / "MUTAG" / "MUTAG_A.txt"));
  write_text(shop / "broken" / "MUTAG.zip", "no archive");
  shop.require_failure(shop.run({"fetch", "MUTAG", "--to", (shop / "broken").string()}), 1, {"MUTAG.zip"});
}

TEST_CASE("sets that can be fetched are listed, and others refused") {
  const GraphShop shop;
  CHECK_THAT(shop.run_well({"fetch"}).out, Catch::Contains("MUTAG: 188 molecules") && Catch::Contains("https://"));
  shop.refuses({"fetch", "MUTAGG"}, 2, {"MUTAGG", "MUTAG"});
  shop.refuses({"fetch", "peptides-func"}, 2, {"known are MUTAG, ENZYMES", "tools/graph/README.md"});
}

}  // namespace geosft::test::test_graph_fetch_command
