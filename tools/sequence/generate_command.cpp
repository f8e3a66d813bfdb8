// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "data/seeds.h"
#include "data/sequences/listops.h"
#include "data/sequences/pathfinder.h"
#include "data/sequences/picture_folders.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/key_names.h"
#include "tools/experiment/subcommand.h"

namespace geosft {
namespace {

// Options that belong to some kinds alone.
struct OptionUse {
  const char* option;
  std::vector<std::string> kinds;
};
const std::vector<OptionUse>& option_uses() {
  static const std::vector<OptionUse> uses = {
      {"--train", {"listops", "pictures"}},
      {"--validation", {"listops", "pictures"}},
      {"--test", {"listops"}},
      {"--min-tokens", {"listops"}},
      {"--max-tokens", {"listops"}},
      {"--least-tokens", {"listops"}},
      {"--most-tokens", {"listops"}},
      {"--max-depth", {"listops"}},
      {"--pictures", {"pathfinder"}},
      {"--side", {"pathfinder"}},
      {"--dashes", {"pathfinder"}},
      {"--distractors", {"pathfinder"}},
      {"--classes", {"pictures"}},
      {"--min-side", {"pictures"}},
      {"--max-side", {"pictures"}},
  };
  return uses;
}

struct GenerateCommand {
  const CLI::App* subcommand = nullptr;
  std::string kind;
  std::filesystem::path out;
  int64_t train = 96000, validation = 2000, test = 2000, pictures = 200000;
  ListOpsOptions listops;
  PathfinderOptions pathfinder;
  GeneratedPictures shapes;
  uint64_t seed = 0;

  int execute() const {
    for (const OptionUse& use : option_uses()) {
      const bool used = std::find(use.kinds.begin(), use.kinds.end(), kind) != use.kinds.end();
      if (used || subcommand->count(use.option) == 0) continue;
      std::string of = use.kinds.front();
      for (size_t i = 1; i < use.kinds.size(); ++i) of += " and " + use.kinds[i];
      throw UsageError(std::string(use.option) + " is for " + of + ", not for " + kind);
    }
    if (kind == "listops") return write_expressions();
    return kind == "pictures" ? write_shapes() : write_pictures();
  }

  // Writes pictures in a folder per class.
  int write_shapes() const {
    GeneratedPictures options = shapes;
    if (subcommand->count("--train") > 0) options.train = train;
    if (subcommand->count("--validation") > 0) options.validation = validation;
    if (options.min_side > options.max_side) {
      throw UsageError("--min-side must not be above --max-side: " + std::to_string(options.min_side) + " and " +
                       std::to_string(options.max_side));
    }
    if (std::min(options.train, options.validation) < options.classes) {
      throw UsageError("--train and --validation must be at least --classes, " + std::to_string(options.classes));
    }
    write_generated_pictures(out, options, seed);
    std::cout << (out / "train").string() << ": " << options.train << " pictures\n"
              << (out / "val").string() << ": " << options.validation << " pictures\n";
    return 0;
  }

  int write_expressions() const {
    if (listops.min_tokens > listops.max_tokens) {
      throw UsageError("--min-tokens must not be above --max-tokens: " + std::to_string(listops.min_tokens) + " and " +
                       std::to_string(listops.max_tokens));
    }
    std::filesystem::create_directories(out);
    uint64_t part = 0;
    for (const auto& [name, count] :
         {std::pair("train", train), std::pair("val", validation), std::pair("test", test)}) {
      const std::filesystem::path file = out / (std::string("basic_") + name + ".tsv");
      write_listops(file, listops, count, combine_seeds({seed, part++}));
      std::cout << file.string() << ": " << count << " sequences\n";
    }
    return 0;
  }

  int write_pictures() const {
    write_pathfinder(out, pathfinder, pictures, seed);
    std::cout << out.string() << ": " << pictures << " pictures\n";
    return 0;
  }
};

}  // namespace

Command add_generate_command(CLI::App& subcommand) {
  auto command = std::make_shared<GenerateCommand>();
  command->subcommand = &subcommand;
  subcommand.add_option("KIND", command->kind, "what to generate: listops, pathfinder or pictures")
      ->required()
      ->check(CLI::IsMember({"listops", "pathfinder", "pictures"}));
  subcommand.add_option("--out", command->out, "folder for the files")->required();
  const auto count = [&](const char* name, int64_t& target, const char* about, int64_t minimum = 1) {
    const CLI::Range permitted(minimum, int64_t{100000000});
    return subcommand.add_option(name, target, about)->check(permitted)->capture_default_str();
  };
  // Adds the former name of an option, hidden.
  const auto former = [&](const std::string& name, CLI::Option* option, int64_t& target) {
    const auto note = [=](const std::string&) {
      if (option->count() > 0) throw CLI::ExcludesError(name, option->get_name());
      std::cerr << renaming_notice(name, option->get_name());
    };
    subcommand.add_option(name, target)->check(CLI::Range(1, 100000000))->each(note)->group("");
  };
  count("--train", command->train, "ListOps: sequences of the training part; pictures: 400");
  count("--validation", command->validation, "of the validation part; pictures: 100");
  count("--test", command->test, "of the test part");
  former("--least-tokens", count("--min-tokens", command->listops.min_tokens, "of a sequence"),
         command->listops.min_tokens);
  former("--most-tokens", count("--max-tokens", command->listops.max_tokens, "of a sequence"),
         command->listops.max_tokens);
  count("--max-depth", command->listops.max_depth, "of an expression");
  count("--pictures", command->pictures, "Pathfinder: pictures, half of them with a path");
  count("--side", command->pathfinder.side, "of a picture, in pixels", 8);
  count("--dashes", command->pathfinder.dashes, "of the two long curves, each");
  count("--distractors", command->pathfinder.distractors, "short curves", 0);
  count("--classes", command->shapes.classes, "pictures: shapes, 2 to 6", 2)->check(CLI::Range(2, 6));
  count("--min-side", command->shapes.min_side, "of a picture, in pixels", 8)->check(CLI::Range(8, 10000));
  count("--max-side", command->shapes.max_side, "the same", 8)->check(CLI::Range(8, 10000));
  subcommand.add_option("--seed", command->seed, "of everything random")->capture_default_str();
  return [command] { return command->execute(); };
}

}  // namespace geosft
