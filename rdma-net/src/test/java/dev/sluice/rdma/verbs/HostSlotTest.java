// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.UUID;
import org.junit.jupiter.api.Test;

class HostSlotTest {
  private final String what = UUID.randomUUID().toString();

  @Test
  void eachIsTheFirstThatIsFree() throws Exception {
    try (HostSlot first = HostSlot.take(what);
        HostSlot third = third(first)) {
      assertThat(third.number()).isEqualTo(first.number() + 2);
      try (HostSlot second = HostSlot.take(what)) {
        assertThat(second.number()).isEqualTo(first.number() + 1);
      }
    }
  }

  private HostSlot third(HostSlot first) throws Exception {
    try (HostSlot second = HostSlot.take(what)) {
      assertThat(second.number()).isEqualTo(first.number() + 1);
      return HostSlot.take(what);
    }
  }

  @Test
  void aFailureFreesTheNumber() throws Exception {
    int first;
    try (HostSlot turn = HostSlot.take(what)) {
      first = turn.number();
    }
    assertThatThrownBy(() -> HostSlot.take(what, HostSlotTest::noMemory))
        .isInstanceOf(OutOfMemoryError.class);
    try (HostSlot turn = HostSlot.take(what)) {
      assertThat(turn.number()).isEqualTo(first);
    }
  }

  private static int noMemory() {
    throw new OutOfMemoryError("thrown by a test");
  }

  @Test
  void anotherProcessIsToldAnotherNumber() throws Exception {
    String name = "\0sluice-" + what + "-0";
    Process other =
        new ProcessBuilder(
                "python3",
                "-c",
                "import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM);"
                    + " s.bind('\\0' + sys.argv[1]); print('bound', flush=True); sys.stdin.read()",
                name.substring(1))
            .start();
    int first;
    try (HostSlot turn = HostSlot.take(what + "-of-nobody")) {
      first = turn.number();
    }
    assertThat(other.inputReader().readLine()).isEqualTo("bound");
    try (HostSlot turn = HostSlot.take(what)) {
      assertThat(turn.number()).isEqualTo(first + 1);
    }
    other.destroyForcibly().waitFor();
    try (HostSlot turn = HostSlot.take(what)) {
      assertThat(turn.number())
          .as("the kernel releases the turns of an ended process")
          .isEqualTo(first);
    }
  }
}
