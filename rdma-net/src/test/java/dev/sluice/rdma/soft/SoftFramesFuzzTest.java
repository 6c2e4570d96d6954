// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.fuzz.Mutations;
import org.junit.jupiter.api.Test;

class SoftFramesFuzzTest {
  @Test
  void mutatedFramesEndInAClosedConnection() {
    Mutations.run(SoftFramesFuzz.valid(), SoftFramesFuzz::fuzzerTestOneInput);
  }
}
