// SPDX-License-Identifier: Apache-2.0
// What every tool's main shares: errors as one line on stderr, exit codes, and leaving cleanly on Ctrl-C.
#pragma once

#include <functional>
#include <stdexcept>

namespace geosft {

// Thrown by a body that stopped because of interrupted(), after it saved what there was to save: exit code 130.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// From now on SIGINT and SIGTERM only set the flag that interrupted() reads. A second signal ends the process at once,
// so that a body that hangs can still be stopped.
void install_interrupt_handler();
bool interrupted();
// Throws Interrupted, saying `where`, when a signal was received.
void throw_if_interrupted(const char* where);
// Forgets a signal that was received.
void clear_interrupt();

// Runs the body of a tool and returns the exit code: the body's own (0: done), 2 for UsageError, 130 for Interrupted, 1
// for any other exception. An exception becomes one line on stderr, "geosft-classify: error: …". When nobody reads
// stdout any more (`geosft-classify … | head -1`) the tool ends silently with 1; other failures to write it are errors.
int run_tool(const char* name, const std::function<int()>& body);

}  // namespace geosft
