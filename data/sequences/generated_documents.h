// SPDX-License-Identifier: Apache-2.0
// Generates pairs of documents in the form of the AAN corpus: the retrieval task of the Long Range Arena, without its
// data.
#pragma once

#include <cstdint>
#include <filesystem>

namespace geosft {

// A topic has words of its own, which are made of a few syllables. The other words of a document are common to all
// topics, and frequent ones follow Zipf's law.
struct GeneratedDocuments {
  int64_t min_bytes = 3000, max_bytes = 4000;  // of a document
  int64_t topics = 20;                         // at least 2
  int64_t topic_words = 40;                    // of each topic
  int64_t common_words = 400;
  double topic_share = 0.5;  // of the words of a document that belong to its topic, in expectation
};

// Writes `count` lines label<TAB>id<TAB>id<TAB>text<TAB>text (see read_document_pairs) of pairs that are alternately of
// one topic (label 1.0) and of two (0.0). Words and topics depend on `seed` alone, so that the splits of a dataset have
// the same; the documents depend on `split`, too. Throws an error that names the option, for numbers that are not
// positive, fewer than 2 topics, max_bytes below min_bytes, and shares outside of [0, 1].
void write_generated_documents(const std::filesystem::path& file, const GeneratedDocuments& options, int64_t count,
                               uint64_t seed, uint64_t split);

}  // namespace geosft
