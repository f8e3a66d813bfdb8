// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "data/seeds.h"
#include "data/sequences/listops.h"
#include "data/sequences/pathfinder.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/key_names.h"
#include "tools/experiment/subcommand.h"

namespace geosft {
namespace {

constexpr const char* of_listops[] = {"--train",      "--validation",   "--test",        "--min-tokens",
                                      "--max-tokens", "--least-tokens", "--most-tokens", "--max-depth"};
constexpr const char* of_pathfinder[] = {"--pictures", "--side", "--dashes", "--distractors"};

struct GenerateCommand {
  const CLI::App* subcommand = nullptr;
  std::string kind;
  std::filesystem::path out;
  int64_t train = 96000, validation = 2000, test = 2000, pictures = 200000;
  ListOpsOptions listops;
  PathfinderOptions pathfinder;
  uint64_t seed = 0;

  int execute() const {
    if (kind == "listops") {
      refuse(of_pathfinder, "pathfinder");
      return write_expressions();
    }
    refuse(of_listops, "listops");
    return write_pictures();
  }

  template <size_t n>
  void refuse(const char* const (&options)[n], const char* other) const {
    for (const char* option : options) {
      if (subcommand->count(option) > 0)
        throw UsageError(std::string(option) + " is for " + other + ", not for " + kind);
    }
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
  subcommand.add_option("KIND", command->kind, "what to generate: listops or pathfinder")
      ->required()
      ->check(CLI::IsMember({"listops", "pathfinder"}));
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
  count("--train", command->train, "ListOps: sequences of the training part");
  count("--validation", command->validation, "of the validation part");
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
  subcommand.add_option("--seed", command->seed, "of everything random")->capture_default_str();
  return [command] { return command->execute(); };
}

}  // namespace geosft
