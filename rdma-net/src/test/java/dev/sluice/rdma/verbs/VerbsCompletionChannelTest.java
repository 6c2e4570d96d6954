// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.CompletionChannel;
import dev.sluice.rdma.Device;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class VerbsCompletionChannelTest extends FakeAdaptersTestCase {
  private static final int EBUSY = 16;

  @Test
  void aChannelThatIsBusyIsClosedWithItsDevice() throws Exception {
    long before = eventDescriptors();
    Device device = open();
    CompletionChannel channel = device.createCompletionChannel();
    adapters.set(0, "destroy_comp_channel_error", EBUSY);
    channel.close();
    adapters.set(0, "destroy_comp_channel_error", 0);
    device.close();
    assertThat(adapters.get(0, "destroy_comp_channel")).isEqualTo(1);
    assertThat(eventDescriptors()).isEqualTo(before);
  }

  private static long eventDescriptors() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.filter(VerbsCompletionChannelTest::isEventDescriptor).count();
    }
  }

  private static boolean isEventDescriptor(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString().contains("eventfd");
    } catch (IOException e) {
      return false; // closed meanwhile
    }
  }
}
