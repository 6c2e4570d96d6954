// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.log.LogCapture;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvAsyncEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A device that fails, or is taken out, fails once, and all READs with it. */
class DeviceFailureTest extends FakeAdaptersTestCase {
  private final List<LogCapture> logs = new ArrayList<>();
  private LoopbackEndpoint loopback;
  private LogCapture failures;

  @BeforeEach
  void openEndpoint() throws Exception {
    loopback = new LoopbackEndpoint(open());
    failures = capture("dev.sluice.rdma.transfer.ReadEngine", Level.ERROR);
    for (String silent :
        List.of("VerbsCompletionChannel", "VerbsQueuePair", "VerbsDevice", "AsyncEvents")) {
      capture("dev.sluice.rdma.verbs." + silent, Level.ERROR);
      capture("dev.sluice.rdma.verbs." + silent, Level.WARN); // the lower level takes effect
    }
  }

  private LogCapture capture(String source, Level level) throws ClassNotFoundException {
    LogCapture capture = new LogCapture(Class.forName(source), level);
    logs.add(capture);
    return capture;
  }

  @AfterEach
  void closeEndpoint() {
    loopback.close();
    logs.reversed().forEach(LogCapture::close);
  }

  private List<String> messages() {
    return logs.stream().flatMap(log -> log.messages().stream()).toList();
  }

  @Test
  void aFatalEventFailsPendingReads() throws Exception {
    loopback.read().assertSucceeds();
    adapters.set(0, "hold", 1);
    LoopbackEndpoint.Answer held = loopback.read();
    await("the READ is posted", () -> loopback.posted() == 2);

    adapters.raise(0, IbvAsyncEvent.Type.DEVICE_FATAL);

    held.assertFails(ReadException.Cause.TRANSPORT, "local catastrophic error");
    assertThat(failures.messages()).hasSize(1);
  }

  @Test
  void aRemovedDeviceFailsOnceAndIsLoggedOnce() throws Exception {
    loopback.read().assertSucceeds();

    adapters.remove(0);

    await("it is noticed", () -> !failures.messages().isEmpty());
    loopback.read().assertFails(ReadException.Cause.TRANSPORT, "the device failed");
    TimeUnit.MILLISECONDS.sleep(200); // a channel that fails was polled twenty times by then
    assertThat(messages()).hasSize(1);
  }

  @Test
  void aFailedDeviceAcceptsNoConnection() throws Exception {
    adapters.raise(0, IbvAsyncEvent.Type.DEVICE_FATAL);
    await("it is noticed", () -> !failures.messages().isEmpty());

    long before = adapters.get(0, "create_qp");
    assertThatThrownBy(() -> loopback.accept("somebody"))
        .hasCauseInstanceOf(VerbsException.class)
        .hasMessageContaining("local catastrophic error");
    assertThat(adapters.get(0, "create_qp")).isEqualTo(before);
  }
}
