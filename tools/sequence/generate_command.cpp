// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "data/seeds.h"
#include "data/sequences/generated_documents.h"
#include "data/sequences/listops.h"
#include "data/sequences/pathfinder.h"
#include "data/sequences/picture_folders.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/subcommand.h"

namespace geosft {
namespace {

void check_range(const char* lower_option, int64_t lower, const char* upper_option, int64_t upper) {
  if (lower <= upper) return;
  throw UsageError(std::string(lower_option) + " must not be above " + upper_option + ": " + std::to_string(lower) +
                   " and " + std::to_string(upper));
}

// Throws UsageError for a place where something is: another dataset would be replaced, or mixed with this one.
void refuse_filled(const std::filesystem::path& out) {
  std::error_code error;
  if (!std::filesystem::exists(out, error)) return;
  const bool folder = std::filesystem::is_directory(out, error);
  if (folder && std::filesystem::is_empty(out, error)) return;
  throw UsageError("--out " + out.string() + " is " + (folder ? "a folder with files in it" : "a file") +
                   ": take a folder that is new or empty");
}

struct GenerateCommand {
  const CLI::App* subcommand = nullptr;
  std::string kind;
  std::filesystem::path out;
  int64_t train = 96000, validation = 2000, test = 2000, pictures = 200000;
  ListOpsOptions listops;
  PathfinderOptions pathfinder;
  GeneratedPictures shapes;
  GeneratedDocuments documents;
  uint64_t seed = 0;

  int execute() const;

  // Writes pictures in a folder per class.
  int write_shapes() const {
    GeneratedPictures options = shapes;
    if (subcommand->count("--train") > 0) options.train = train;
    if (subcommand->count("--validation") > 0) options.validation = validation;
    check_range("--min-side", options.min_side, "--max-side", options.max_side);
    if (std::min(options.train, options.validation) < options.classes) {
      throw UsageError("--train and --validation must be at least --classes, " + std::to_string(options.classes));
    }
    write_generated_pictures(out, options, seed);
    std::cout << (out / "train").string() << ": " << options.train << " pictures\n"
              << (out / "val").string() << ": " << options.validation << " pictures\n";
    return 0;
  }

  int write_expressions() const {
    check_range("--min-tokens", listops.min_tokens, "--max-tokens", listops.max_tokens);
    std::filesystem::create_directories(out);
    uint64_t split = 0;
    for (const auto& [name, count] :
         {std::pair("train", train), std::pair("val", validation), std::pair("test", test)}) {
      const std::filesystem::path file = out / (std::string("basic_") + name + ".tsv");
      write_listops(file, listops, count, combine_seeds({seed, split++}));
      std::cout << file.string() << ": " << count << " sequences\n";
    }
    return 0;
  }

  int write_documents() const {
    check_range("--min-bytes", documents.min_bytes, "--max-bytes", documents.max_bytes);
    std::filesystem::create_directories(out);
    const auto count_of = [&](const char* option, int64_t given, int64_t usual) {
      return subcommand->count(option) > 0 ? given : usual;
    };
    uint64_t split = 0;
    for (const auto& [name, count] : {std::pair("train", count_of("--train", train, 8000)),
                                      std::pair("eval", count_of("--validation", validation, 1000)),
                                      std::pair("test", count_of("--test", test, 1000))}) {
      const std::filesystem::path file = out / (std::string("documents.") + name + ".tsv");
      write_generated_documents(file, documents, count, seed, split++);
      std::cout << file.string() << ": " << count << " pairs of documents\n";
    }
    return 0;
  }

  int write_pictures() const {
    write_pathfinder(out, pathfinder, pictures, seed);
    std::cout << out.string() << ": " << pictures << " pictures\n";
    return 0;
  }
};

// A kind of data, what writes it, and the options that are not for every kind.
struct Generator {
  std::string kind;
  int (GenerateCommand::*write)() const;
  std::vector<std::string> options;

  bool has(const std::string& option) const { return std::ranges::count(options, option) > 0; }
};

const std::vector<Generator>& generators() {
  static const std::vector<Generator> all = {
      {"listops",
       &GenerateCommand::write_expressions,
       {"--train", "--validation", "--test", "--min-tokens", "--max-tokens", "--least-tokens", "--most-tokens",
        "--max-depth"}},
      {"pathfinder", &GenerateCommand::write_pictures, {"--pictures", "--side", "--dashes", "--distractors"}},
      {"pictures",
       &GenerateCommand::write_shapes,
       {"--train", "--validation", "--classes", "--min-side", "--max-side"}},
      {"documents",
       &GenerateCommand::write_documents,
       {"--train", "--validation", "--test", "--min-bytes", "--max-bytes", "--topics", "--topic-words",
        "--common-words", "--topic-share"}},
  };
  return all;
}

std::vector<std::string> kinds_with(const std::string& option) {
  std::vector<std::string> kinds;
  for (const Generator& one : generators()) {
    if (one.has(option)) kinds.push_back(one.kind);
  }
  return kinds;
}

int GenerateCommand::execute() const {
  const auto chosen = std::ranges::find(generators(), kind, &Generator::kind);
  for (const Generator& one : generators()) {
    for (const std::string& option : one.options) {
      if (chosen->has(option) || subcommand->count(option) == 0) continue;
      throw UsageError(option + " is for " + listed(kinds_with(option), " and ") + ", not for " + kind);
    }
  }
  refuse_filled(out);
  return (this->*chosen->write)();
}

}  // namespace

Command add_generate_command(CLI::App& subcommand) {
  auto command = std::make_shared<GenerateCommand>();
  command->subcommand = &subcommand;
  std::vector<std::string> kinds;
  for (const Generator& one : generators()) kinds.push_back(one.kind);
  subcommand.add_option("KIND", command->kind, "what to generate: " + listed(kinds, " or "))
      ->required()
      ->check(CLI::IsMember(kinds));
  subcommand.add_option("--out", command->out, "folder for the files")->required();
  const auto count = [&](const char* name, int64_t& target, const char* about, int64_t minimum = 1) {
    const CLI::Range permitted(minimum, int64_t{100000000});
    return subcommand.add_option(name, target, about)->check(permitted)->capture_default_str();
  };
  const auto former = [&](const std::string& name, CLI::Option* option, int64_t& target) {
    add_former_name(subcommand, name, option, target, 1, 100000000);
  };
  count("--train", command->train, "ListOps: sequences of the training split; pictures: 400, documents: 8000 pairs");
  count("--validation", command->validation, "of the validation split; pictures: 100, documents: 1000");
  count("--test", command->test, "of the test split; documents: 1000");
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
  count("--min-bytes", command->documents.min_bytes, "of a document");
  count("--max-bytes", command->documents.max_bytes, "the same");
  count("--topics", command->documents.topics, "documents: topics, two documents of one of which belong together", 2);
  count("--topic-words", command->documents.topic_words, "of each topic");
  count("--common-words", command->documents.common_words, "of all topics");
  subcommand
      .add_option("--topic-share", command->documents.topic_share, "of a document's words that are those of its topic")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  subcommand.add_option("--seed", command->seed, "of everything random")->capture_default_str();
  return [command] { return command->execute(); };
}

}  // namespace geosft
