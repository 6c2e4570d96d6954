// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.handover.ApplicationFolder;
import dev.sluice.blocks.wire.NodeId;
import dev.sluice.node.StateFile.ApplicationState;
import dev.sluice.rdma.transfer.DaemonThreads;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Application that is closed while it is opened. */
class ApplicationTest extends NodeDaemonTestCase {
  private final List<ServedApplication> opened = new ArrayList<>();
  private NodeOptions options;
  private final ScheduledExecutorService timer = DaemonThreads.timer();
  private NodeDevice device;
  private NodeFolders folders;
  private Application application;
  private boolean closesWhileOpening;

  @BeforeEach
  void makeApplication() throws IOException {
    options = NodeOptions.of(settings);
    device = NodeDevice.tryOut(options);
    folders = NodeFolders.open(options.get(NodeSettings.DIRECTORIES));
    folders.read();
    application =
        new Application(
            folders, this::open, ApplicationState.first(APPLICATION, SECRET), () -> {}, () -> {});
  }

  @AfterEach
  void closeApplication() {
    opened.forEach(ServedApplication::close);
    folders.close();
    timer.shutdownNow();
  }

  private ServedApplication open(ApplicationState state, List<ApplicationFolder> kept, Runnable end)
      throws IOException {
    opened.add(
        new SparkApplication(
            device,
            new NodeId("node", state.since()),
            new ApplicationPort("127.0.0.1", new int[] {0}, state),
            new ApplicationStore(
                kept, new AdmissionControl(options, List::of), Duration.ofMinutes(10)),
            end,
            timer));
    if (closesWhileOpening) {
      application.close();
    }
    return opened.getLast();
  }

  @Test
  void itIsNotServedAfterItWasClosedWhileItWasOpened() throws Exception {
    closesWhileOpening = true;
    application.open();
    assertThat(opened).hasSize(1);
    int port = opened.getFirst().state().port();
    assertThatThrownBy(() -> new Socket(InetAddress.getByName("127.0.0.1"), port).close())
        .isInstanceOf(ConnectException.class);
  }

  @Test
  void aClosedOneIsNotOpened() throws Exception {
    application.close();
    application.open();
    assertThat(opened).isEmpty();
  }
}
