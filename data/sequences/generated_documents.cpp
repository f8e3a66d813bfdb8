// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/generated_documents.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "data/atomic_file.h"
#include "data/seeds.h"

namespace geosft {
namespace {

constexpr std::string_view consonants = "bcdfghjklmnpqrstvwxz", vowels = "aeiou";
constexpr int64_t topic_syllables = 6, min_syllables = 2, max_syllables = 4;
// Words of a topic that are made before one that occurs already is taken.
constexpr int64_t max_tries = 100;

using Words = std::vector<std::string>;

Words all_syllables() {
  Words syllables;
  for (const char consonant : consonants) {
    for (const char vowel : vowels) syllables.push_back({consonant, vowel});
  }
  return syllables;
}

class Vocabulary {
 public:
  Vocabulary(const GeneratedDocuments& options, uint64_t seed) : generator_(make_generator(seed)) {
    const Words syllables = all_syllables();
    common_ = words(syllables, options.common_words);
    for (int64_t topic = 0; topic < options.topics; ++topic) {
      const at::Tensor order =
          at::randperm(static_cast<int64_t>(syllables.size()), generator_, at::TensorOptions().dtype(at::kLong));
      Words chosen;
      for (int64_t i = 0; i < topic_syllables; ++i) {
        chosen.push_back(syllables[static_cast<size_t>(order[i].item<int64_t>())]);
      }
      topics_.push_back(words(chosen, options.topic_words));
    }
  }

  // Returns a word of the topic, each as likely as any other, for u in [0, 1).
  const std::string& of_topic(int64_t topic, double u) const {
    const Words& words = topics_[static_cast<size_t>(topic)];
    return words[static_cast<size_t>(u * static_cast<double>(words.size()))];
  }
  // Returns a common word: the r-th has a probability of about 1 / r.
  const std::string& common(double u) const {
    const double rank = std::exp(u * std::log(static_cast<double>(common_.size() + 1)));
    return common_[std::min(static_cast<size_t>(rank) - 1, common_.size() - 1)];
  }

 private:
  int64_t below(int64_t limit) { return at::randint(limit, {}, generator_, at::kLong).item<int64_t>(); }

  // Makes `count` words of 2 to 4 of the syllables, as different as there are.
  Words words(const Words& syllables, int64_t count) {
    Words made;
    std::set<std::string> known;
    while (static_cast<int64_t>(made.size()) < count) {
      std::string word;
      for (int64_t tries = 0; tries < max_tries && (word.empty() || known.contains(word)); ++tries) {
        word.clear();
        const int64_t length = min_syllables + below(max_syllables - min_syllables + 1);
        for (int64_t i = 0; i < length; ++i) {
          word += syllables[static_cast<size_t>(below(static_cast<int64_t>(syllables.size())))];
        }
      }
      known.insert(word);
      made.push_back(word);
    }
    return made;
  }

  at::Generator generator_;
  Words common_;
  std::vector<Words> topics_;
};

std::string document(const GeneratedDocuments& options, const Vocabulary& vocabulary, int64_t topic,
                     at::Generator& generator) {
  const auto length = static_cast<size_t>(
      at::randint(options.min_bytes, options.max_bytes + 1, {}, generator, at::kLong).item<int64_t>());
  const auto words = static_cast<int64_t>(length) / (2 * min_syllables + 1) + 1;
  const at::Tensor random = at::rand({words, 2}, generator, at::TensorOptions().dtype(at::kDouble));
  const auto numbers = random.accessor<double, 2>();
  std::string text;
  for (int64_t i = 0; i < words && text.size() < length; ++i) {
    const double u = numbers[i][1];
    if (i > 0) text += ' ';
    text += numbers[i][0] < options.topic_share ? vocabulary.of_topic(topic, u) : vocabulary.common(u);
  }
  // A cut after a word would leave a blank at the end, which readers of tables drop.
  text.resize(std::min(length, text.size()));
  if (text.back() == ' ') text.back() = 's';
  return text;
}

void check(const GeneratedDocuments& options, int64_t count) {
  TORCH_CHECK(count >= 1, "count must be at least 1, got ", count);
  TORCH_CHECK(options.topics >= 2, "topics must be at least 2, got ", options.topics);
  TORCH_CHECK(options.topic_words >= 1, "topic_words must be at least 1, got ", options.topic_words);
  TORCH_CHECK(options.common_words >= 1, "common_words must be at least 1, got ", options.common_words);
  TORCH_CHECK(options.min_bytes >= 1 && options.min_bytes <= options.max_bytes,
              "min_bytes must be at least 1 and at most max_bytes, got ", options.min_bytes, " and ",
              options.max_bytes);
  TORCH_CHECK(options.topic_share >= 0 && options.topic_share <= 1, "topic_share must lie in [0, 1], got ",
              options.topic_share);
}

}  // namespace

void write_generated_documents(const std::filesystem::path& file, const GeneratedDocuments& options, int64_t count,
                               uint64_t seed, uint64_t split) {
  check(options, count);
  const Vocabulary vocabulary(options, seed);
  at::Generator generator = make_generator(combine_seeds({seed, split}));
  const auto below = [&](int64_t limit) { return at::randint(limit, {}, generator, at::kLong).item<int64_t>(); };
  AtomicFile out(file);
  for (int64_t i = 0; i < count; ++i) {
    const bool same = i % 2 == 0;
    const int64_t first = below(options.topics),
                  second = same ? first : (first + 1 + below(options.topics - 1)) % options.topics;
    std::string line = same ? "1.0" : "0.0";
    for (const int64_t number : {2 * i, 2 * i + 1}) line += "\tD" + std::to_string(number);
    for (const int64_t topic : {first, second}) line += "\t" + document(options, vocabulary, topic, generator);
    line += '\n';
    out.write(line.data(), line.size());
  }
  out.commit();
}

}  // namespace geosft
