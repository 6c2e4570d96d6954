// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.rdma.fuzz.Mutations;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ControlFuzzTest {
  @Test
  void mutatedMessagesAreAnsweredOnceOrRefused() throws Exception {
    Mutations.run(ControlFuzz.valid(), ControlFuzz::fuzzerTestOneInput);
  }

  @Test
  void eachMessageIsMutated() throws Exception {
    MessageCodec codec = new MessageCodec(ControlMessages.TYPES);
    Set<String> mutated = new HashSet<>();
    for (byte[] encoded : ControlFuzz.valid()) {
      mutated.add(codec.decode(ByteBuffer.wrap(encoded)).getClass().getName());
    }
    assertThat(ControlMessages.TYPES)
        .extracting(message -> message.type().getName())
        .hasSameElementsAs(mutated);
  }
}
