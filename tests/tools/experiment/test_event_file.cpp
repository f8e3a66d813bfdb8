// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/event_file.h"

#include <catch2/catch.hpp>

#include "data/data_error.h"
#include "tests/data/files.h"
#include "tests/support.h"
#include "tests/tools/experiment/python.h"

namespace geosft::test::test_event_file {
namespace {

// Reads a file of events with struct alone, and prints "STEP TAG VALUE" per scalar. The CRC is computed bit by bit.
constexpr const char* reader = R"(
import struct, sys

def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff

def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at

def fields(data):
    at, found = 0, {}
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif kind == 5:
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        else:
            assert kind == 2
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        found[number] = value
    return found

data = open(sys.argv[1], "rb").read()
at, events = 0, []
while at < len(data):
    (size,) = struct.unpack_from("<Q", data, at)
    assert struct.unpack_from("<I", data, at + 8)[0] == masked(data[at:at + 8])
    body = data[at + 12:at + 12 + size]
    assert struct.unpack_from("<I", data, at + 12 + size)[0] == masked(body)
    events.append(fields(body))
    at += 16 + size
assert events[0][3] == b"brain.Event:2" and events[0][1] > 1.6e9
for event in events[1:]:
    value = fields(fields(event[5])[1])
    assert event[1] >= events[0][1]
    print(event[2], value[1].decode(), value[2])
)";

}  // namespace

TEST_CASE("the CRC is Castagnoli's") {
  CHECK(crc32c("123456789") == 0xe3069283);  // RFC 3720, B.4, and the usual check value
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(crc32c("") == 0);
}

TEST_CASE("a record frames its bytes") {
  const std::string record = tf_record("abc");
  REQUIRE(record.size() == 8 + 4 + 3 + 4);
  CHECK(record.substr(0, 8) == std::string("\3\0\0\0\0\0\0\0", 8));
  CHECK(record.substr(12, 3) == "abc");
}

TEST_CASE("another reader finds the scalars that were written") {
  const std::string interpreter = find_python();
  if (interpreter.empty()) return;
  const TemporaryFolder folder;
  EventFile file(folder / "new" / "events");
  file.add_scalar("loss/train", 1.5, 1);
  file.add_scalar("loss/train", 0.25, 300);
  file.add_scalar("accuracy/validation", 0.75, 300);
  EventFile other(folder / "new" / "events");
  CHECK(file.path() != other.path());
  write_text(folder / "reader.py", reader);
  const ProcessResult read = python(interpreter, {(folder / "reader.py").string(), file.path().string()});
  INFO(read.err);
  CHECK(read.exit == 0);
  CHECK(read.out == "1 loss/train 1.5\n300 loss/train 0.25\n300 accuracy/validation 0.75\n");
}

TEST_CASE("a folder that cannot be made is named") {
  require_error([] { EventFile("/dev/null/events"); }, {"/dev/null/events"});
}

}  // namespace geosft::test::test_event_file
