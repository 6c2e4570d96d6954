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

/** Posting and polling allocate nothing, according to the JVM's own counter. */
@NeedsRdmaDevice
final class AllocationTest {
  private static final int READS = 20_000;

  /** Allowance for a whole measurement: two time stamps, a result, the clock's readings. */
  private static final long BYTES_OF_A_MEASUREMENT = 64 << 10;

  /**
   * A client that measures twice, once to let the code be compiled. The server takes no part in
   * READs, so their number is free.
   */
  @Command
  private static final class Client extends PerfCommand {
    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private long bytes = Long.MAX_VALUE;

    Client() {
      super(PerfParameters.Test.LAT);
    }

    @Override
    void measure(PerfEndpoint endpoint) throws IOException {
      new LatencyCommand().latencies(endpoint);
      long before = threads.getCurrentThreadAllocatedBytes();
      new LatencyCommand().latencies(endpoint);
      bytes = threads.getCurrentThreadAllocatedBytes() - before;
    }

    @Override
    void serve(PerfEndpoint endpoint) {
      throw new AssertionError("this is the client");
    }
  }

  @Test
  void readsAllocateNothingOnceTheyAreCompiled() throws Exception {
    String port = "" + FreePort.find();
    ToolRun server = ToolRun.start("lat", "-p", port);
    CProgram.awaitListening(Integer.parseInt(port));
    Client client = new Client();
    String options =
        "-n 1 -s 64 --warm-up " + READS + " -t 16 --outs 1 -m 1024 -p " + port + " localhost";
    new CommandLine(client).setCaseInsensitiveEnumValuesAllowed(true).parseArgs(options.split(" "));
    client.run();
    server.assertSuccess();
    assertThat(client.bytes).as("bytes for %d READs", READS).isLessThan(BYTES_OF_A_MEASUREMENT);
  }
}
