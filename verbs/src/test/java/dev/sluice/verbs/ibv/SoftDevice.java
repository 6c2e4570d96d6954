// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A soft-RoCE device for one test, which can take its link down without harm to other tests. Needs
 * root and a kernel with rxe. Closing it removes the device.
 */
final class SoftDevice implements AutoCloseable {
  private static final String NAME = "rxe_own";
  private static final String LINK = "sluice0";

  /** Creates a device on one end of a virtual cable. */
  SoftDevice() throws IOException {
    this("veth", "peer", "name", "sluice1");
    run("ip", "link", "set", "sluice1", "up");
  }

  /**
   * @param type type of the network device in the terms of ip-link(8), and its arguments
   */
  SoftDevice(String... type) throws IOException {
    List<String> link = new ArrayList<>(List.of("ip", "link", "add", LINK, "type"));
    link.addAll(List.of(type));
    run(link.toArray(String[]::new));
    setLink("up");
    run("ip", "address", "add", "198.18.77.1/24", "dev", LINK);
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

  /** Deletes the link, which removes the device. */
  @Override
  public void close() throws IOException {
    run("ip", "link", "delete", LINK);
  }
}
