// SPDX-License-Identifier: Apache-2.0
#include "tests/places.h"
#include "tools/experiment/zoo.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "data/data_error.h"
#include "tests/support.h"
#include "tests/tools/experiment/command_line.h"
#include "tools/experiment/run_checkpoint.h"

namespace geosft::test::test_zoo {
namespace {

namespace fs = std::filesystem;

nlohmann::json small_card(const std::string& name, const std::string& tool) {
  return {{"name", name},
          {"tool", tool},
          {"summary", "two classes"},
          {"command", tool + " train"},
          {"data", {{"name", "balls"}, {"licence", "CC0"}}},
          {"scores",
           {{{"metric", "accuracy"}, {"unit", "%"}, {"rotation", "so3"}, {"metrics", {{"accuracy", 0.875}}}},
            {{"metric", "accuracy"}, {"unit", "%"}, {"metrics", {{"accuracy", 0.5}}}},
            {{"metric", "accuracy"}, {"unit", "%"}, {"normals", "estimated"}, {"metrics", {{"accuracy", 0.75}}}}}},
          {"sha256", nlohmann::json::object()}};
}

// A zoo with two models and two folders that are none, which stands for the installed one.
class SmallZoo {
 public:
  SmallZoo() : variable_("GEOSFT_ZOO", folder_.path().string()) {
    add("b", "geosft-classify");
    add("a", "geosft-classify");
    add("graphs", "geosft-graph");
    write_text(folder_ / "notes" / "README.md", "no model");
    write_text(folder_ / "half" / "card.json", "{}");
  }
  void add(const std::string& name, const std::string& tool) {
    write_text(folder_ / name / "config.toml", "");
    write_text(folder_ / name / "card.json", small_card(name, tool).dump());
    save_checkpoint(folder_ / name / "best.ckpt", {{}, run_texts(tool, "", {"x", "y"})});
  }
  fs::path operator/(const std::string& name) const { return folder_ / name; }

 private:
  TemporaryFolder folder_;
  EnvironmentVariable variable_;
};

const std::vector<std::pair<std::string, std::string>> tools = {{"geosft-classify", program_path("geosft-classify")},
                                                                {"geosft-segment", program_path("geosft-segment")},
                                                                {"geosft-graph", program_path("geosft-graph")}};

}  // namespace

TEST_CASE("a name of the zoo stands for its folder, and what is there stands for itself") {
  const SmallZoo zoo;
  REQUIRE(zoo_models() == std::vector<std::string>{"a", "b", "graphs"});
  REQUIRE(zoo_models("geosft-graph") == std::vector<std::string>{"graphs"});
  REQUIRE(resolve_run("a") == zoo / "a");
  REQUIRE(names_run("a"));
  for (const fs::path& other : {fs::path("c"), fs::path("half"), fs::path("notes"), fs::path("."), fs::path(""),
                                zoo / "a" / "..", fs::path("./a")}) {
    REQUIRE(resolve_run(other) == other);
    REQUIRE_FALSE(names_run(other));
  }
  for (const fs::path& itself : {zoo / "b", zoo / "b" / "best.ckpt"}) {
    REQUIRE(resolve_run(itself) == itself);
    REQUIRE(names_run(itself));
  }
  fs::path file;
  REQUIRE(run_names(load_run_checkpoint("b", file), "geosft-classify", file) == std::vector<std::string>{"x", "y"});
  REQUIRE(file == zoo / "b" / "best.ckpt");
  require_error([&] { load_run_checkpoint("graph", file); },
                {"graph: expected a RUN folder", "pretrained", "'graphs'"});
  require_error([&] { load_run_checkpoint("", file); }, {"the path of the model", "a RUN folder", "an empty path"});
}

TEST_CASE("a pretrained model of another tool is refused by its name") {
  const SmallZoo zoo;
  fs::path file;
  load_run_checkpoint("a", file, "geosft-classify");
  CHECK(file == zoo / "a/best.ckpt");
  require_error([&] { load_run_checkpoint("a", file, "geosft-segment"); },
                {"a: expected a run or a pretrained model of geosft-segment", "one of geosft-classify", "list"});
}

TEST_CASE("a card that is damaged or lacks a field is refused by name") {
  const SmallZoo zoo;
  REQUIRE(zoo_card("a").at("data").at("licence") == "CC0");
  require_error([] { zoo_card("half"); }, {"half", "card.json", "card of a pretrained model"});
  require_error([] { zoo_card("absent"); }, {"absent", "card.json"});
  write_text(zoo / "a" / "card.json", "{");
  require_error([] { zoo_models("geosft-classify"); }, {"a/card.json"});
}

TEST_CASE("list prints a line for each model of the tool, or one card") {
  const SmallZoo zoo;
  const Words lines = lines_of(run_process(program_path("geosft-classify"), {"list"}).out);
  REQUIRE(lines.size() == 2);
  REQUIRE(lines[0] == "a  two classes; accuracy 87.5 % (so3), 75.0 % with estimated normals; 0.0 MB; data: CC0");
  write_text(zoo / "a" / "kernel.ckpt", std::string(1900000, ' '));
  CHECK_THAT(run_process(program_path("geosft-classify"), {"list"}).out, Catch::Contains("; 1.9 MB; "));
  const nlohmann::json all = nlohmann::json::parse(run_process(program_path("geosft-graph"), {"list", "--json"}).out);
  REQUIRE(all.at("models") == nlohmann::json{small_card("graphs", "geosft-graph")});
  const ProcessResult none = run_process(program_path("geosft-segment"), {"list"});
  REQUIRE(none.exit == 0);
  REQUIRE(none.out.empty());
  CHECK_THAT(none.err, Catch::StartsWith("geosft-segment has no pretrained models in /") &&
                           Catch::Contains(", which GEOSFT_ZOO names: train one"));
  REQUIRE(nlohmann::json::parse(run_process(program_path("geosft-classify"), {"list", "b"}).out) ==
          small_card("b", "geosft-classify"));
  require_one_line_failure("geosft-segment", run_process(program_path("geosft-segment"), {"list", "a"}), 2,
                           {"'a'", "geosft-segment"});
}

TEST_CASE("the shipped models have the bytes of their cards, and load") {
  const Words names = zoo_models();
  REQUIRE_FALSE(names.empty());
  for (const std::string& name : names) {
    INFO(name);
    const nlohmann::json card = zoo_card(name);
    const fs::path folder = zoo_folder() / name;
    REQUIRE(card.at("name") == name);
    REQUIRE(card.at("sha256").size() >= 2);
    for (const auto& [file, sum] : card.at("sha256").items()) {
      const ProcessResult found = run_process("/usr/bin/env", {"sha256sum", (folder / file).string()});
      REQUIRE(found.out.substr(0, 64) == sum.get<std::string>());
    }
    uintmax_t size = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      REQUIRE(entry.path().filename() != "last.ckpt");
      const bool weights = entry.path().extension() == ".ckpt";
      REQUIRE((!weights || card.at("sha256").contains(fs::relative(entry.path(), folder).string())));
      if (entry.is_regular_file()) size += entry.file_size();
    }
    REQUIRE(size < 3'000'000);
    const auto tool =
        std::find_if(tools.begin(), tools.end(), [&](const auto& one) { return one.first == card.at("tool"); });
    REQUIRE(tool != tools.end());
    const ProcessResult info = run_process(tool->second, {"info", "--json", name});
    INFO(info.err);
    REQUIRE(info.exit == 0);
    fs::path file;
    const Checkpoint checkpoint = load_run_checkpoint(name, file);
    REQUIRE(run_text(checkpoint, card.at("tool"), "config", file) == read_text(folder / "config.toml"));
    for (const auto& [entry, tensor] : checkpoint.tensors) REQUIRE(entry.rfind("model.", 0) == 0);
  }
}

}  // namespace geosft::test::test_zoo
