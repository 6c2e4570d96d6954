package dev.sluice.rdma.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;

/**
 * A soft-RoCE device of a test's own, whose link the test takes down without harm to others. Needs
 * root and a kernel with rxe and veth; closing it removes it.
 */
final class SoftDevice implements AutoCloseable {
  private static final String NAME = "rxe_down";
  private static final String LINK = "sluice0";

  SoftDevice() throws IOException {
    run("ip", "link", "add", LINK, "type", "veth", "peer", "name", "sluice1");
    run("ip", "link", "set", "sluice1", "up");
    setLink("up");
    run("rdma", "link", "add", NAME, "type", "rxe", "netdev", LINK);
  }

  IbvContext open() throws Exception {
    try (IbvDeviceList list = IbvDeviceList.get()) {
      return list.find(NAME).orElseThrow().open();
    }
  }

  /**
   * @param state {@code up} or {@code down}
   */
  void setLink(String state) throws IOException {
    run("ip", "link", "set", LINK, state);
  }

  private static void run(String... command) throws IOException {
    Process process = new ProcessBuilder(command).inheritIO().start();
    assertThat(process.onExit())
        .as(String.join(" ", command))
        .succeedsWithin(Duration.ofMillis(IbvTestCase.DEADLINE_MS))
        .matches(ended -> ended.exitValue() == 0);
  }

  /** The device goes with its link. */
  @Override
  public void close() throws IOException {
    run("ip", "link", "delete", LINK);
  }
}
