// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.registry.Node;
import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.RemoteRegion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LoopbackReadTest {
  private final Arena arena = Arena.ofShared();
  private final byte[] bytes = new byte[100_000];
  private Node node;
  private MemoryRegion region;

  @BeforeEach
  void register() throws IOException {
    new Random(1).nextBytes(bytes);
    node = Node.soft();
    MemorySegment memory = arena.allocate(bytes.length);
    memory.copyFrom(MemorySegment.ofArray(bytes));
    region = node.domain().register(memory, Set.of(AccessFlag.REMOTE_READ));
  }

  @AfterEach
  void close() {
    node.close();
    arena.close();
  }

  @Test
  void bringsTheBytesThatAPeerWouldRead() throws Exception {
    assertThat(LoopbackRead.read(node.domain(), region.toRemote())).isEqualTo(bytes);
    assertThat(
            LoopbackRead.read(
                node.domain(), new RemoteRegion(region.address() + 77, 5_000, region.rkey())))
        .isEqualTo(Arrays.copyOfRange(bytes, 77, 5_077));
  }

  @Test
  void aFailedReadIsReported() {
    RemoteRegion remote = region.toRemote();
    region.close();

    assertThatThrownBy(() -> LoopbackRead.read(node.domain(), remote))
        .isInstanceOf(RegistrationUnavailableException.class)
        .hasMessageContaining("REM_ACCESS_ERR");
  }
}
