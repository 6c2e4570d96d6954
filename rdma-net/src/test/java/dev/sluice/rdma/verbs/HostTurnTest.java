package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import org.junit.jupiter.api.Test;

class HostTurnTest {
  private final String what = UUID.randomUUID().toString();

  @Test
  void eachIsTheFirstThatIsFree() throws Exception {
    try (HostTurn first = HostTurn.take(what);
        HostTurn third = third(first)) {
      assertThat(third.number()).isEqualTo(first.number() + 2);
      try (HostTurn second = HostTurn.take(what)) {
        assertThat(second.number()).isEqualTo(first.number() + 1);
      }
    }
  }

  private HostTurn third(HostTurn first) throws Exception {
    try (HostTurn second = HostTurn.take(what)) {
      assertThat(second.number()).isEqualTo(first.number() + 1);
      return HostTurn.take(what);
    }
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
    try (HostTurn turn = HostTurn.take(what + "-of-nobody")) {
      first = turn.number();
    }
    assertThat(other.inputReader().readLine()).isEqualTo("bound");
    try (HostTurn turn = HostTurn.take(what)) {
      assertThat(turn.number()).isEqualTo(first + 1);
    }
    other.destroyForcibly().waitFor();
    try (HostTurn turn = HostTurn.take(what)) {
      assertThat(turn.number())
          .as("the kernel releases the turns of an ended process")
          .isEqualTo(first);
    }
  }
}
