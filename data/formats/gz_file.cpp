// SPDX-License-Identifier: Apache-2.0
#include "data/formats/compression.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "data/data_error.h"
#include "data/read_file.h"

namespace geosft {
namespace {

class GzipStream {
 public:
  explicit GzipStream(const std::string& file) : file_(file) {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, gzip_only) != Z_OK) throw DataError(file, "memory to unpack it", "none");
  }
  ~GzipStream() { inflateEnd(&stream_); }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  std::string unpack(std::string& bytes) {
    std::string out, block(size_t{1} << 18, '\0');
    size_t done = 0;
    for (int status = Z_OK; done < bytes.size() || status != Z_STREAM_END;) {
      if (status == Z_STREAM_END) inflateReset(&stream_);
      const size_t offered = std::min<size_t>(bytes.size() - done, std::numeric_limits<uInt>::max());
      stream_.next_in = reinterpret_cast<Bytef*>(bytes.data() + done);
      stream_.avail_in = static_cast<uInt>(offered);
      stream_.next_out = reinterpret_cast<Bytef*>(block.data());
      stream_.avail_out = static_cast<uInt>(block.size());
      status = inflate(&stream_, Z_NO_FLUSH);
      done += offered - stream_.avail_in;
      if (status == Z_BUF_ERROR) throw DataError(file_, "a complete gzip file", "a truncated one");
      if (status != Z_OK && status != Z_STREAM_END) throw DataError(file_, "a gzip file", "damaged data");
      out.append(block, 0, block.size() - stream_.avail_out);
      if (out.size() > max_unpacked(bytes.size())) {
        throw DataError(file_, "at most " + std::to_string(max_unpacked(bytes.size())) + " bytes unpacked", "more");
      }
    }
    return out;
  }

 private:
  std::string file_;
  z_stream stream_ = {};
};

}  // namespace

std::string gunzipped(std::string bytes, const std::string& file) {
  if (!bytes.starts_with("\x1f\x8b")) return bytes;
  return GzipStream(file).unpack(bytes);
}

std::string read_gz_file(const std::filesystem::path& file) {
  return gunzipped(read_file(file), file.string());
}

std::string gz_file_head(const std::filesystem::path& file, size_t size) {
  open_file(file);  // for its error messages
  std::string head(size, '\0');
  const gzFile stream = gzopen(file.c_str(), "rb");
  if (stream == nullptr) throw DataError(file.string(), "a readable file", "an error");
  const int found = gzread(stream, head.data(), static_cast<unsigned>(size));
  gzclose(stream);
  head.resize(static_cast<size_t>(std::max(found, 0)));
  return head;
}

std::filesystem::path file_or_gz(const std::filesystem::path& file) {
  const std::filesystem::path packed = file.string() + ".gz";
  return !std::filesystem::exists(file) && std::filesystem::exists(packed) ? packed : file;
}

}  // namespace geosft
