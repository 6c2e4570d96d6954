// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.rdma.fuzz.Mutations;
import org.junit.jupiter.api.Test;

class DirectoryFuzzTest {
  @Test
  void mutatedMessagesAreAnsweredOrRefused() throws Exception {
    Mutations.run(DirectoryFuzz.valid(), DirectoryFuzz::fuzzerTestOneInput);
  }
}
