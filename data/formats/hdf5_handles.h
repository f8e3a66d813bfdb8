// SPDX-License-Identifier: Apache-2.0
// Wraps the lock and the handles of the HDF5 library.
#pragma once

#include <hdf5.h>

#include <mutex>

namespace geosft {

// The library has global state and is not thread-safe as built on Debian. The lock also silences its error output.
class LibraryLock {
 public:
  LibraryLock() : lock_(mutex()) {
    H5Eget_auto2(H5E_DEFAULT, &printer_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~LibraryLock() { H5Eset_auto2(H5E_DEFAULT, printer_, data_); }
  LibraryLock(const LibraryLock&) = delete;
  LibraryLock& operator=(const LibraryLock&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t printer_ = nullptr;
  void* data_ = nullptr;
};

// An RAII handle of the library with its closing function.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

}  // namespace geosft
