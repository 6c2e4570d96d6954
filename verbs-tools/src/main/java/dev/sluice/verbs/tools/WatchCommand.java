// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.ibv.IbvAsyncEvent;
import dev.sluice.verbs.ibv.IbvContext;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The command {@code bin/verbs watch}: prints each asynchronous event of a device, as
 * ibv_asyncwatch does.
 */
@Command(
    name = "watch",
    description = {
      "Prints the asynchronous events of a device: ports that go up and down, changed GIDs,"
          + " failures.",
      "Ends with status 0 after the given time or number of events, or by a signal."
    })
final class WatchCommand implements Callable<Integer> {
  private static final Set<IbvAsyncEvent.Type> OF_A_PORT =
      EnumSet.of(
          IbvAsyncEvent.Type.PORT_ACTIVE,
          IbvAsyncEvent.Type.PORT_ERR,
          IbvAsyncEvent.Type.LID_CHANGE,
          IbvAsyncEvent.Type.PKEY_CHANGE,
          IbvAsyncEvent.Type.SM_CHANGE,
          IbvAsyncEvent.Type.CLIENT_REREGISTER,
          IbvAsyncEvent.Type.GID_CHANGE);

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "DEVICE",
      description = "RDMA device (default: the first one)")
  private String device;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "End after this many seconds (default: ${DEFAULT-VALUE})")
  private int timeoutSeconds = 3600;

  @Option(
      names = {"-n", "--count"},
      paramLabel = "EVENTS",
      showDefaultValue = Visibility.NEVER,
      description = "End after this many events")
  private int count = Integer.MAX_VALUE;

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
    try (IbvContext context = LocalPort.openDevice(device)) {
      out.printf("%s: watching for asynchronous events%n", context.device());
      for (int events = 0; events < count; events++) {
        long leftMs = TimeUnit.NANOSECONDS.toMillis(Math.max(0, end - System.nanoTime()));
        Optional<IbvAsyncEvent> event = context.awaitAsyncEvent(leftMs);
        if (event.isEmpty()) {
          break;
        }
        print(event.get(), out);
      }
    }
    return 0;
  }

  private static void print(IbvAsyncEvent event, PrintWriter out) throws IOException {
    try (event) {
      out.printf(
          "%s  %s (%d)%s%n",
          LocalTime.now().truncatedTo(ChronoUnit.MILLIS),
          event.text(),
          event.type().number(),
          event.type().known().filter(OF_A_PORT::contains).isPresent()
              ? ", port " + event.port()
              : "");
    }
  }
}
