// SPDX-License-Identifier: Apache-2.0
#include "data/formats/jpeg.h"

// libjpeg's header needs the types of this one.
#include <cstdio>

#include <jpeglib.h>
// After jpeglib.h.
#include <jerror.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdlib>
#include <stdexcept>

#include "data/data_error.h"

namespace geosft {
namespace {

// A block of 8 x 8 pixels takes at least one bit.
constexpr uint64_t max_pixels_per_byte = 512;
constexpr int max_scans = 500;

// libjpeg reports an error by a call that must not return. It ends in `jump`, with the text in `message`.
struct ErrorManager {
  jpeg_error_mgr base;  // first: libjpeg hands out its address
  std::jmp_buf jump;
  std::array<char, JMSG_LENGTH_MAX> message;
};

[[noreturn]] void stop(j_common_ptr state) {
  auto* const manager = reinterpret_cast<ErrorManager*>(state->err);
  manager->base.format_message(state, manager->message.data());
  std::longjmp(manager->jump, 1);
}

// Takes warnings of missing or damaged data for errors; other ones, such as additional bytes, are harmless.
void on_message(j_common_ptr state, int level) {
  if (level >= 0) return;
  const int code = state->err->msg_code;
  if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE) stop(state);
}

// A small progressive file may have thousands of scans of a large picture.
void on_progress(j_common_ptr state) {
  if (state->is_decompressor == 0) return;
  if (reinterpret_cast<j_decompress_ptr>(state)->input_scan_number <= max_scans) return;
  auto* const manager = reinterpret_cast<ErrorManager*>(state->err);
  std::snprintf(manager->message.data(), manager->message.size(), "more than %d scans", max_scans);
  std::longjmp(manager->jump, 1);
}

void install(ErrorManager& manager, jpeg_error_mgr*& err) {
  err = jpeg_std_error(&manager.base);
  manager.base.error_exit = stop;
  manager.base.emit_message = on_message;
  manager.message[0] = '\0';
}

enum class Outcome { whole, too_large, failed };

// No object with a destructor lives in the functions that set a jump: the jump would pass it by.
struct Decoder {
  jpeg_decompress_struct state;
  ErrorManager errors;
  jpeg_progress_mgr progress;
};

Outcome begin(Decoder& decoder, const unsigned char* bytes, size_t size, uint64_t maximum) {
  if (setjmp(decoder.errors.jump) != 0) return Outcome::failed;
  jpeg_create_decompress(&decoder.state);
  decoder.progress.progress_monitor = on_progress;
  decoder.state.progress = &decoder.progress;
  jpeg_mem_src(&decoder.state, bytes, size);
  jpeg_read_header(&decoder.state, TRUE);
  if (uint64_t{decoder.state.image_width} * decoder.state.image_height > maximum) return Outcome::too_large;
  const J_COLOR_SPACE space = decoder.state.jpeg_color_space;
  decoder.state.out_color_space = space == JCS_CMYK || space == JCS_YCCK ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&decoder.state);
  return Outcome::whole;
}

// Writes rows of output_width * output_components bytes.
Outcome read_rows(Decoder& decoder, uint8_t* pixels) {
  if (setjmp(decoder.errors.jump) != 0) return Outcome::failed;
  const size_t stride = size_t{decoder.state.output_width} * static_cast<size_t>(decoder.state.output_components);
  while (decoder.state.output_scanline < decoder.state.output_height) {
    JSAMPROW row = pixels + stride * decoder.state.output_scanline;
    jpeg_read_scanlines(&decoder.state, &row, 1);
  }
  jpeg_finish_decompress(&decoder.state);
  return Outcome::whole;
}

// Frees the decoder at the end of its scope.
struct Destroyer {
  Decoder& decoder;
  ~Destroyer() { jpeg_destroy_decompress(&decoder.state); }
};

// Adobe's files, which nearly all of CMYK are, hold 255 minus the amount of ink.
std::vector<uint8_t> rgb_of_cmyk(const std::vector<uint8_t>& inks, bool inverted) {
  std::vector<uint8_t> pixels(inks.size() / 4 * 3);
  const auto light = [&](uint8_t ink) { return inverted ? int{ink} : 255 - int{ink}; };
  for (size_t i = 0; i < inks.size() / 4; ++i) {
    for (size_t channel = 0; channel < 3; ++channel) {
      pixels[3 * i + channel] =
          static_cast<uint8_t>((light(inks[4 * i + channel]) * light(inks[4 * i + 3]) + 127) / 255);
    }
  }
  return pixels;
}

struct Encoder {
  jpeg_compress_struct state;
  ErrorManager errors;
};

Outcome encode(Encoder& encoder, const uint8_t* pixels, unsigned width, unsigned height, int quality,
               unsigned char** bytes, unsigned long* size) {
  if (setjmp(encoder.errors.jump) != 0) return Outcome::failed;
  jpeg_create_compress(&encoder.state);
  jpeg_mem_dest(&encoder.state, bytes, size);
  encoder.state.image_width = width;
  encoder.state.image_height = height;
  encoder.state.input_components = 3;
  encoder.state.in_color_space = JCS_RGB;
  jpeg_set_defaults(&encoder.state);
  jpeg_set_quality(&encoder.state, quality, TRUE);
  jpeg_start_compress(&encoder.state, TRUE);
  while (encoder.state.next_scanline < height) {
    // libjpeg reads from the row, but its type is not constant.
    JSAMPROW row = const_cast<uint8_t*>(pixels) + size_t{3} * width * encoder.state.next_scanline;
    jpeg_write_scanlines(&encoder.state, &row, 1);
  }
  jpeg_finish_compress(&encoder.state);
  return Outcome::whole;
}

}  // namespace

bool is_jpeg(std::string_view bytes) {
  return bytes.starts_with("\xFF\xD8\xFF");
}

ColourImage read_jpeg(std::string_view bytes, const std::string& file) {
  Decoder decoder{};
  install(decoder.errors, decoder.state.err);
  const Destroyer destroyer{decoder};
  const uint64_t maximum = std::min<uint64_t>(max_pixels, max_pixels_per_byte * bytes.size());
  const Outcome begun = begin(decoder, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), maximum);
  if (begun == Outcome::failed) throw DataError(file, "a JPEG", decoder.errors.message.data());
  if (begun == Outcome::too_large) {
    throw DataError(file,
                    "at most " + std::to_string(maximum) + " pixels in " + std::to_string(bytes.size()) + " bytes",
                    std::to_string(decoder.state.image_width) + " x " + std::to_string(decoder.state.image_height));
  }
  const bool inks = decoder.state.out_color_space == JCS_CMYK;
  ColourImage image{decoder.state.output_height, decoder.state.output_width, {}};
  image.pixels.resize(static_cast<size_t>(image.height * image.width) *
                      static_cast<size_t>(decoder.state.output_components));
  if (read_rows(decoder, image.pixels.data()) != Outcome::whole) {
    throw DataError(file, "a whole JPEG", decoder.errors.message.data());
  }
  if (inks) image.pixels = rgb_of_cmyk(image.pixels, decoder.state.saw_Adobe_marker != 0);
  return image;
}

std::string jpeg_bytes(const ColourImage& image, int quality) {
  Encoder encoder{};
  install(encoder.errors, encoder.state.err);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  const Outcome made = encode(encoder, image.pixels.data(), static_cast<unsigned>(image.width),
                              static_cast<unsigned>(image.height), quality, &bytes, &size);
  jpeg_destroy_compress(&encoder.state);
  std::string result;
  if (made == Outcome::whole) result.assign(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);  // libjpeg's, by malloc
  if (made != Outcome::whole) {
    throw std::runtime_error(std::string("no JPEG could be made: ") + encoder.errors.message.data());
  }
  return result;
}

}  // namespace geosft
