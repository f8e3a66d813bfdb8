// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/byte_classifier.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "data/points/shape.h"
#include "data/read_file.h"
#include "tools/bench/attention_inputs.h"

namespace geosft::bench {

ByteClassifierImpl::ByteClassifierImpl(const LayerOptions& layer, int64_t layers) {
  const int64_t width = layer.attention.width;
  embed = register_module("embed", torch::nn::Embedding(256, width));
  encoder = register_module("encoder", Encoder(layer, layers));
  head = register_module("head", SoftmaxPoolHead(width, 2));
}

at::Tensor ByteClassifierImpl::forward(const at::Tensor& bytes, const at::Tensor& prompt) {
  TORCH_CHECK(bytes.dim() == 2, "bytes must be [B, n], got shape ", bytes.sizes());
  at::Tensor x = embed->forward(bytes);
  x = x + sinusoids(x.size(1), x.size(2), x.options());
  if (prompt.defined()) x = at::cat({prompt.unsqueeze(0).expand({x.size(0), -1, -1}), x}, 1);
  const at::Tensor ptr = equal_offsets(x.size(0), x.size(1));
  SamplingContext context = SamplingContext::greedy();  // no sampling, no dropout
  return head->forward(encoder->forward(x.flatten(0, 1), RelativeEncoding::none(), ptr, context), ptr);
}

namespace {

// Concatenates the texts of all lines per label.
std::array<std::string, 2> texts_by_label(const std::filesystem::path& file) {
  const std::string all = read_file(file);
  std::array<std::string, 2> texts;
  int64_t number = 0;
  for (size_t begin = 0; begin < all.size(); ++number) {
    const size_t end = std::min(all.find('\n', begin), all.size());
    const std::string_view line = std::string_view(all).substr(begin, end - begin);
    const size_t text = line.rfind('\t');
    if (line.size() < 2 || line[1] != '\t' || (line[0] != '0' && line[0] != '1')) {
      throw DataError(file.string() + ":" + std::to_string(number + 1), "0 or 1, a tab and a text",
                      std::string(line.substr(0, 20)));
    }
    texts[line[0] == '1'].append(line.substr(text + 1)).push_back('\n');
    begin = end + 1;
  }
  return texts;
}

}  // namespace

ByteDocuments read_documents(const std::filesystem::path& file, int64_t count, int64_t n) {
  const std::array<std::string, 2> texts = texts_by_label(file);
  ByteDocuments documents{at::empty({count, n}, at::kLong), at::arange(count, at::kLong).remainder(2)};
  int64_t* to = documents.bytes.mutable_data_ptr<int64_t>();
  for (int64_t d = 0; d < count; ++d) {
    const std::string& text = texts[static_cast<size_t>(d % 2)];
    const auto begin = static_cast<size_t>(d / 2 * n), length = static_cast<size_t>(n);
    if (begin + length > text.size()) {
      throw DataError(file.string(), std::to_string(count) + " documents of " + std::to_string(n) + " bytes",
                      std::to_string(text.size()) + " bytes of label " + std::to_string(d % 2));
    }
    for (size_t i = 0; i < length; ++i) *to++ = static_cast<unsigned char>(text[begin + i]);
  }
  return documents;
}

}  // namespace geosft::bench
