package dev.sluice.blocks;

import dev.sluice.rdma.fuzz.Mutations;
import org.junit.jupiter.api.Test;

class ControlFuzzTest {
  @Test
  void mutatedMessagesAreAnsweredOnceOrRefused() throws Exception {
    Mutations.run(ControlFuzz.valid(), ControlFuzz::fuzzerTestOneInput);
  }
}
