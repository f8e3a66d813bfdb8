// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/generated_documents.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>

#include "data/sequences/sequence_dataset.h"
#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_generated_documents {
namespace {

const GeneratedDocuments small = {
    .min_bytes = 300, .max_bytes = 320, .topics = 3, .topic_words = 12, .common_words = 9};

std::vector<std::vector<std::string>> rows_of(const std::filesystem::path& file) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(read_text(file));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::vector<std::string>& row = rows.emplace_back();
    for (std::string field; std::getline(fields, field, '\t');) row.push_back(field);
  }
  return rows;
}

// The words of a text but for the last one, which may be cut.
std::set<std::string> words_of(const std::string& text) {
  std::istringstream stream(text.substr(0, text.rfind(' ')));
  return {std::istream_iterator<std::string>(stream), {}};
}

size_t common_to(const std::set<std::string>& a, const std::set<std::string>& b) {
  return static_cast<size_t>(std::count_if(a.begin(), a.end(), [&](const auto& word) { return b.contains(word); }));
}

}  // namespace

TEST_CASE("documents are generated as pairs that are read", "[generated_documents]") {
  const TemporaryFolder folder;
  for (const auto& [name, split] : {std::pair("train", 0), std::pair("eval", 1), std::pair("test", 2)}) {
    write_generated_documents(folder / ("made." + std::string(name) + ".tsv"), small, 6, 4,
                              static_cast<uint64_t>(split));
  }
  const PackedItems packed = read_document_pairs(folder.path());
  REQUIRE(packed.size() == 18);
  CHECK(packed.warnings.empty());
  CHECK(packed.schema.documents);
  CHECK(packed.split->validation.size() == 6);
  require_equal(packed.target.slice(0, 0, 6), at::tensor({1, 0, 1, 0, 1, 0}, at::kLong), "labels");
  const at::Tensor lengths = packed.graphs.ptr.diff();
  CHECK((lengths.min().item<int64_t>() >= 600 && lengths.max().item<int64_t>() <= 640));
}

TEST_CASE("pairs of one topic share its words, and the splits have the same topics", "[generated_documents]") {
  const TemporaryFolder folder;
  GeneratedDocuments options = small;
  options.topic_share = 1;
  write_generated_documents(folder / "a.tsv", options, 40, 4, 0);
  write_generated_documents(folder / "b.tsv", options, 40, 4, 1);
  std::set<std::string> first, second;
  for (const auto& row : rows_of(folder / "a.tsv")) {
    REQUIRE(row.size() == 5);
    const std::set<std::string> left = words_of(row[3]), right = words_of(row[4]);
    INFO(row[3] << "\n" << row[4]);
    if (row[0] == "1.0") CHECK(common_to(left, right) > left.size() / 2);
    if (row[0] == "0.0") CHECK(common_to(left, right) < left.size() / 2);
    first.insert(left.begin(), left.end());
  }
  for (const auto& row : rows_of(folder / "b.tsv")) {
    const std::set<std::string> left = words_of(row[3]);
    second.insert(left.begin(), left.end());
  }
  CHECK(first == second);
  CHECK(first.size() <= 36);
}

TEST_CASE("frequent common words are much more frequent than rare ones", "[generated_documents]") {
  const TemporaryFolder folder;
  GeneratedDocuments options = small;
  options.topic_share = 0;
  options.common_words = 100;
  write_generated_documents(folder / "a.tsv", options, 60, 4, 0);
  std::map<std::string, int64_t> counts;
  int64_t total = 0;
  for (const auto& row : rows_of(folder / "a.tsv")) {
    std::istringstream words(row[3].substr(0, row[3].rfind(' ')));
    for (std::string word; words >> word; ++total) ++counts[word];
  }
  int64_t most = 0;
  for (const auto& [word, count] : counts) most = std::max(most, count);
  // ln 2 / ln 101 = 0.15 of the words are the first one.
  CHECK(static_cast<double>(most) > 0.1 * static_cast<double>(total));
  CHECK(static_cast<double>(most) < 0.2 * static_cast<double>(total));
}

TEST_CASE("generated documents follow from seed and split", "[generated_documents]") {
  const TemporaryFolder folder;
  const auto made = [&](const std::string& name, uint64_t seed, uint64_t split) {
    write_generated_documents(folder / name, small, 3, seed, split);
    return read_text(folder / name);
  };
  const std::string one = made("a", 1, 0);
  CHECK(made("b", 1, 0) == one);
  CHECK(made("c", 2, 0) != one);
  CHECK(made("d", 1, 1) != one);
}

TEST_CASE("options of generated documents that are impossible are named", "[generated_documents]") {
  const TemporaryFolder folder;
  const auto refused = [&](const GeneratedDocuments& options, int64_t count, const std::vector<std::string>& words) {
    require_error([&] { write_generated_documents(folder / "a.tsv", options, count, 0, 0); }, words);
    CHECK_FALSE(std::filesystem::exists(folder / "a.tsv"));
  };
  refused({}, 0, {"count", "0"});
  refused({.topics = 1}, 2, {"topics", "1"});
  refused({.topic_words = 0}, 2, {"topic_words", "0"});
  refused({.common_words = 0}, 2, {"common_words", "0"});
  refused({.min_bytes = 9, .max_bytes = 8}, 2, {"min_bytes", "9", "8"});
  refused({.min_bytes = 0}, 2, {"min_bytes", "0"});
  refused({.topic_share = 1.5}, 2, {"topic_share", "1.5"});
}

}  // namespace geosft::test::test_generated_documents
