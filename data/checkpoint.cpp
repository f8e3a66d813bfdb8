// SPDX-License-Identifier: Apache-2.0
#include "data/checkpoint.h"

#include <zlib.h>

#include <array>
#include <charconv>
#include <limits>
#include <sstream>
#include <vector>

#include "data/atomic_file.h"
#include "data/data_error.h"
#include "data/formats/binary.h"
#include "data/formats/text_lines.h"
#include "data/read_file.h"

namespace geosft {
namespace {

constexpr std::string_view magic = "GEOSFT checkpoint ";
constexpr int64_t version = 1;
constexpr size_t alignment = 64, checksum_size = 4;

constexpr std::array<std::pair<std::string_view, at::ScalarType>, 13> dtypes = {{{"float32", at::kFloat},
                                                                                 {"float64", at::kDouble},
                                                                                 {"float16", at::kHalf},
                                                                                 {"bfloat16", at::kBFloat16},
                                                                                 {"complex64", at::kComplexFloat},
                                                                                 {"complex128", at::kComplexDouble},
                                                                                 {"uint8", at::kByte},
                                                                                 {"int8", at::kChar},
                                                                                 {"int16", at::kShort},
                                                                                 {"int32", at::kInt},
                                                                                 {"int64", at::kLong},
                                                                                 {"bool", at::kBool},
                                                                                 {"complex32", at::kComplexHalf}}};

size_t aligned(size_t offset) {
  return (offset + alignment - 1) / alignment * alignment;
}

uint32_t checksum(std::string_view bytes, uint32_t before = 0) {
  if (bytes.empty()) return before;  // zlib would reset the sum for a null pointer, which empty tensors have
  return static_cast<uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Percent-encodes a name as one word of the header: letters, digits, '.', '_', '-' and '/' are kept.
std::string encode(const std::string& name) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '.' || c == '_' || c == '-' || c == '/') {
      out += c;
    } else {
      out += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return out.empty() ? "%" : out;  // "%" alone encodes the empty name
}

std::string decode(std::string_view word, const TextLines& lines) {
  if (word.empty()) lines.fail_word("a name", word);
  std::string out;
  if (word == "%") return out;
  for (size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%') {
      out += word[i];
      continue;
    }
    unsigned byte = 256;
    if (i + 2 < word.size()) std::from_chars(word.data() + i + 1, word.data() + i + 3, byte, 16);
    if (byte > 255) lines.fail_word("a name in percent-encoding", word);
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

std::string dtype_name(const std::string& name, const at::Tensor& tensor) {
  TORCH_CHECK(tensor.defined() && tensor.layout() == at::kStrided, "checkpoint: tensor \"", name,
              "\" must be defined and dense");
  for (const auto& [text, type] : dtypes) {
    if (type == tensor.scalar_type()) return std::string(text);
  }
  TORCH_CHECK(false, "checkpoint: tensor \"", name, "\" has dtype ", tensor.scalar_type(), ", which cannot be stored");
}

// Writes the file sequentially and computes its checksum.
class Writer {
 public:
  explicit Writer(const std::filesystem::path& file) : file_(file) {}
  void write(std::string_view bytes) {
    file_.write(bytes.data(), bytes.size());
    checksum_ = checksum(bytes, checksum_);
    written_ += bytes.size();
  }
  void align() { write(std::string(aligned(written_) - written_, '\0')); }
  void finish() {
    file_.write(&checksum_, checksum_size);
    file_.commit();
  }

 private:
  AtomicFile file_;
  uint32_t checksum_ = 0;
  size_t written_ = 0;
};

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  Checkpoint read() {
    const size_t header_begin = check_frame();
    TextLines header(bytes_.substr(header_begin, header_size_), file_ + " (header)");
    position_ = header_begin + header_size_;
    Checkpoint checkpoint;
    while (header.next()) {
      const std::string_view kind = header.word();
      const std::string name = decode(header.word(), header);
      if (kind == "tensor") {
        checkpoint.tensors[name] = read_tensor(header);
      } else if (kind == "text") {
        checkpoint.texts[name] = take(header.integer("a number of bytes"), 1, header);
      } else {
        header.fail_word("\"tensor\" or \"text\"", kind);
      }
    }
    return checkpoint;
  }

 private:
  // Checks version, sizes and checksum. Returns the offset of the header.
  size_t check_frame() {
    if (!bytes_.starts_with(magic)) throw DataError(file_, "a checkpoint of geosft", "another kind of file");
    TextLines lines(bytes_, file_);
    lines.next();
    lines.word();
    lines.word();
    const int64_t found = lines.integer("the version of the format");
    if (found != version) {
      throw DataError(file_, "version " + std::to_string(version) + " of the checkpoint format",
                      "version " + std::to_string(found));
    }
    lines.next();
    const int64_t header_size = lines.integer("the size of the header"), total = lines.integer("the size of the data");
    const size_t begin = lines.next_line_offset();
    if (total != static_cast<int64_t>(bytes_.size()) || header_size < 0 ||
        header_size > static_cast<int64_t>(bytes_.size() - begin) - static_cast<int64_t>(checksum_size)) {
      throw DataError(file_, "a file of " + std::to_string(total) + " bytes", std::to_string(bytes_.size()) + " bytes");
    }
    data_end_ = bytes_.size() - checksum_size;
    if (checksum(bytes_.substr(0, data_end_)) != load_number<uint32_t>(bytes_, data_end_)) {
      throw DataError(file_, "contents that agree with the checksum", "damaged contents");
    }
    header_size_ = static_cast<size_t>(header_size);
    return begin;
  }

  std::string take(int64_t count, int64_t item_size, const TextLines& header) {
    const size_t begin = aligned(position_);
    if (begin > data_end_ || count < 0 || count > static_cast<int64_t>(data_end_ - begin) / item_size) {
      header.fail("an entry that lies inside the file", std::to_string(count) + " numbers");
    }
    const auto size = static_cast<size_t>(count * item_size);
    position_ = begin + size;
    return std::string(bytes_.substr(begin, size));
  }

  at::Tensor read_tensor(TextLines& header) {
    const std::string_view type_name = header.word();
    const auto type = std::find_if(dtypes.begin(), dtypes.end(), [&](const auto& d) { return d.first == type_name; });
    if (type == dtypes.end()) header.fail_word("a dtype", type_name);
    std::vector<int64_t> sizes;
    int64_t count = 1, strides = 1;  // strides count a size of 0 as 1
    for (std::string_view word = header.word(); !word.empty(); word = header.word()) {
      sizes.push_back(header.to_integer(word, "a size"));
      const int64_t stride = std::max<int64_t>(sizes.back(), 1);
      if (sizes.back() < 0 || strides > std::numeric_limits<int64_t>::max() / 16 / stride) {
        header.fail_word("a size", word);
      }
      strides *= stride;
      count *= sizes.back();
    }
    const std::string data = take(count, static_cast<int64_t>(c10::elementSize(type->second)), header);
    at::Tensor tensor = at::empty(sizes, type->second);
    if (!data.empty()) std::memcpy(tensor.data_ptr(), data.data(), data.size());
    return tensor;
  }

  std::string_view bytes_;
  const std::string& file_;
  size_t header_size_ = 0, data_end_ = 0, position_ = 0;
};

std::string header_of(const Checkpoint& checkpoint) {
  std::ostringstream header;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    header << "tensor " << encode(name) << ' ' << dtype_name(name, tensor);
    for (const int64_t size : tensor.sizes()) header << ' ' << size;
    header << '\n';
  }
  for (const auto& [name, text] : checkpoint.texts) header << "text " << encode(name) << ' ' << text.size() << '\n';
  return header.str();
}

// Returns the first two lines. The file size they contain has a fixed width, because its digits count towards it.
std::string frame_of(const Checkpoint& checkpoint, size_t header_size) {
  constexpr int digits = 20;
  const auto lines = [&](size_t total) {
    const std::string number = std::to_string(total);
    return std::string(magic) + std::to_string(version) + '\n' + std::to_string(header_size) + ' ' +
           std::string(digits - number.size(), ' ') + number + '\n';
  };
  size_t end = lines(0).size() + header_size;
  for (const auto& [name, tensor] : checkpoint.tensors) end = aligned(end) + tensor.nbytes();
  for (const auto& [name, text] : checkpoint.texts) end = aligned(end) + text.size();
  return lines(end + checksum_size);
}

}  // namespace

void save_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
  const std::string header = header_of(checkpoint);
  Writer writer(file);
  writer.write(frame_of(checkpoint, header.size()));
  writer.write(header);
  for (const auto& [name, tensor] : checkpoint.tensors) {
    const at::Tensor data = tensor.detach().to(at::kCPU).contiguous().resolve_conj().resolve_neg();
    writer.align();
    writer.write({static_cast<const char*>(data.const_data_ptr()), data.nbytes()});
  }
  for (const auto& [name, text] : checkpoint.texts) {
    writer.align();
    writer.write(text);
  }
  writer.finish();
}

Checkpoint load_checkpoint(const std::filesystem::path& file) {
  const std::string bytes = read_file(file);
  return Reader(bytes, file.string()).read();
}

}  // namespace geosft
