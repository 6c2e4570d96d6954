// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.RcExample;
import dev.sluice.verbs.ibv.IbvAsyncEvent;
import dev.sluice.verbs.ibv.IbvContext;
import java.io.IOException;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The command {@code bin/verbs watch}: prints asynchronous events, as ibv_asyncwatch does, on the
 * main thread.
 */
@Command(
    name = "watch",
    description = {
      "Prints the asynchronous events of a device: ports that go up and down, changed GIDs,"
          + " failures.",
      "Ends with status 0 after the given time or number of events, or by a signal."
    })
final class WatchCommand extends ToolCommand {
  @Parameters(
      arity = "0..1",
      paramLabel = "DEVICE",
      description = "RDMA device (default: the first one)")
  private @Nullable String device;

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
  void run() throws IOException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
    try (IbvContext context = RcExample.open(device)) {
      out().printf("%s: watching for asynchronous events%n", context.device());
      for (int events = 0; events < count; events++) {
        long leftMs = TimeUnit.NANOSECONDS.toMillis(Math.max(0, end - System.nanoTime()));
        Optional<IbvAsyncEvent> event = context.awaitAsyncEvent(leftMs);
        if (event.isEmpty()) {
          break;
        }
        print(event.get());
      }
    }
  }

  private void print(IbvAsyncEvent event) throws IOException {
    try (event) {
      LocalTime now = LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.MILLIS);
      boolean ofAPort = event.type().known().filter(WatchCommand::isOfAPort).isPresent();
      String port = ofAPort ? ", port " + event.port() : "";
      out().printf("%s  %s (%d)%s%n", now, event.text(), event.type().number(), port);
    }
  }

  private static boolean isOfAPort(IbvAsyncEvent.Type type) {
    return switch (type) {
      case PORT_ACTIVE, PORT_ERR, LID_CHANGE, PKEY_CHANGE, SM_CHANGE -> true;
      case CLIENT_REREGISTER, GID_CHANGE -> true;
      default -> false;
    };
  }
}
