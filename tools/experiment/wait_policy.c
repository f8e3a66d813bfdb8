// SPDX-License-Identifier: Apache-2.0
// Sets OpenMP's wait policy before libgomp reads it (tools/cmake/ProgramRuntime.cmake): waiting threads sleep. What the
// user has chosen stays.
#include <stdlib.h>

__attribute__((constructor)) static void geosft_set_wait_policy(void) {
  if (getenv("OMP_WAIT_POLICY") == NULL && getenv("GOMP_SPINCOUNT") == NULL) setenv("OMP_WAIT_POLICY", "PASSIVE", 0);
}
