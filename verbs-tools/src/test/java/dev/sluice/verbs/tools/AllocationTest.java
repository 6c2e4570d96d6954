// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.sluice.verbs.NeedsRdmaDevice;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Posting and polling allocate nothing, according to the JVM's own counter. */
@NeedsRdmaDevice
final class AllocationTest {
  private static final int READS = 20_000;

  /** Allowance for a whole measurement: two time stamps, a result, the clock's readings. */
  private static final long BYTES_OF_A_MEASUREMENT = 64 << 10;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Command
  private static final class Client {
    @Mixin private final DeviceOptions device = new DeviceOptions();
    @Mixin private final TcpOptions tcp = new TcpOptions();
  }

  @Test
  void readsAllocateNothingOnceTheyAreCompiled() throws Exception {
    String port = "" + FreePort.find();
    ToolRun server = ToolRun.start("lat", "-p", port);
    CProgram.awaitListening(Integer.parseInt(port));
    Client client = new Client();
    new CommandLine(client).parseArgs("-p", port, "localhost");
    new PerfSession(client.device, client.tcp)
        .run(PerfParameters.Test.LAT, AllocationTest::parameters, this::measure, endpoint -> {});
    server.assertSuccess();
  }

  private static PerfParameters parameters(LocalPort port) {
    return new PerfParameters(
        PerfParameters.Test.LAT, PerfOperation.READ, 64, 1, READS, 0, 16, 1, 1024, false);
  }

  /** Measures twice. The server takes no part in READs, so their number is free. */
  private void measure(PerfEndpoint endpoint) throws IOException {
    new LatencyRun(endpoint).measure();
    long before = threads.getCurrentThreadAllocatedBytes();
    new LatencyRun(endpoint).measure();
    long bytes = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(bytes).as("bytes for %d READs", READS).isLessThan(BYTES_OF_A_MEASUREMENT);
  }
}
