// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.verbs;

import dev.sluice.benchmarks.Sizes;
import dev.sluice.benchmarks.verbs.MeasuringTool.Workload.Operation;
import dev.sluice.testkit.Commands;
import dev.sluice.testkit.VerbsTool;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * A program that measures an operation between a server and a client process, both started for each
 * measurement and ended with it. {@link ReadCommand} uses it on its thread. Only one measurement
 * may run at a time, since all have the same TCP port.
 */
enum MeasuringTool {
  /** The tools of bin/verbs. */
  OURS(2) {
    @Override
    List<String> program(Workload workload, int gidIndex) {
      return VerbsTool.command(
          List.of(
              workload.isLatency() ? "lat" : "bw",
              "--op",
              workload.operation().label(),
              "-g",
              Integer.toString(gidIndex)));
    }
  },

  /** Perftest's programs, such as ib_read_bw; -F makes them ignore the CPU's clock. */
  PERFTEST(3) {
    @Override
    List<String> program(Workload workload, int gidIndex) {
      Operation operation = workload.operation();
      String suffix = workload.isLatency() ? "_lat" : "_bw";
      List<String> program = new ArrayList<>(List.of("ib_" + operation.label() + suffix));
      program.addAll(List.of("-F", "-x", Integer.toString(gidIndex)));
      program.addAll(workload.isLatency() ? operation.latencyOptions() : List.of());
      return program;
    }
  };

  /** Port of the server process; not the programs' default, 18515. */
  private static final int TCP_PORT = 18_520;

  private static final long DEADLINE_SECONDS = 90;

  /** Number of attempts: on a busy machine perftest sometimes reports 0.00 or inf. */
  private static final int ATTEMPTS = 3;

  /** Results of printf(3) for a division by a clock rate that perftest measured as 0. */
  private static final Set<String> NOT_COMPUTED = Set.of("inf", "nan", "-nan");

  /** Column of the typical latency, which is the same in both programs. */
  private static final int TYPICAL = 4;

  /** Column of the average bandwidth in a line of results. */
  private final int averageColumn;

  MeasuringTool(int averageColumn) {
    this.averageColumn = averageColumn;
  }

  /** Returns the start of a command line. */
  abstract List<String> program(Workload workload, int gidIndex);

  /** Average bandwidth in MiB/s, or typical latency in microseconds, of so many messages. */
  double measure(Workload workload, int count, int gidIndex)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(program(workload, gidIndex));
    command.addAll(List.of("-p", "" + TCP_PORT, "-s", "" + workload.bytes(), "-n", "" + count));
    if (!workload.isLatency()) {
      command.addAll(List.of("-t", "" + workload.inFlight()));
    }
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      double value = value(output(command), workload, count);
      if (value > 0) {
        return value;
      }
    }
    throw new IOException(this + " reported a result of 0 in " + ATTEMPTS + " attempts");
  }

  /** Returns the output of a client to which a server with the same options answers. */
  private static String output(List<String> command) throws IOException, InterruptedException {
    List<String> client = new ArrayList<>(command);
    client.add("localhost");
    Process server = Commands.start(command);
    try {
      VerbsTool.awaitListening(List.of(server), TCP_PORT, 1, DEADLINE_SECONDS);
      String output = Commands.output(client, DEADLINE_SECONDS);
      Commands.await(server, command, DEADLINE_SECONDS);
      return output;
    } finally {
      server.destroyForcibly();
    }
  }

  /** Returns the figure in a program's output; 0 if the program could not compute it. */
  double value(String output, Workload workload, int count) throws IOException {
    String start = workload.bytes() + " " + count + " ";
    for (String line : output.lines().toList()) {
      String values = line.strip().replaceAll("\\s+", " ");
      if (values.startsWith(start)) {
        String value = values.split(" ")[workload.isLatency() ? TYPICAL : averageColumn];
        return NOT_COMPUTED.contains(value) ? 0 : Double.parseDouble(value);
      }
    }
    throw new IOException(this + " printed no result: " + output);
  }

  /**
   * Messages to measure: their latency if one is outstanding at a time, otherwise their bandwidth.
   * {@link ReadCommand} lists them; {@link MeasuringTool} makes options of them.
   *
   * @param bytes bytes of one message
   * @param inFlight number of outstanding messages
   */
  record Workload(Operation operation, int bytes, int inFlight) {
    /** Limit of outstanding bytes; more would not fit an executor's buffers either. */
    private static final long MAX_BYTES_IN_FLIGHT = 64L << 20;

    /** Returns every size with every depth, except combinations above the limit. */
    static List<Workload> grid(Operation operation, List<Integer> sizes, List<Integer> depths) {
      List<Workload> grid = new ArrayList<>();
      for (int bytes : sizes) {
        for (int inFlight : depths) {
          if ((long) bytes * inFlight <= MAX_BYTES_IN_FLIGHT) {
            grid.add(new Workload(operation, bytes, inFlight));
          }
        }
      }
      return grid;
    }

    /** Returns the name of its row. */
    String name() {
      return operation.label() + "-verbs-" + Sizes.binary(bytes) + "-x" + inFlight;
    }

    boolean isLatency() {
      return inFlight == 1;
    }

    /**
     * An RDMA operation that perftest and bin/verbs measure. Its label is in the names of programs
     * and rows, so a new one needs a program of perftest with that name.
     */
    enum Operation {
      READ,
      WRITE,
      SEND;

      /** Returns the name in options, programs and rows. */
      String label() {
        return name().toLowerCase(Locale.ROOT);
      }

      /**
       * Returns the maximum number of messages to measure latency. WRITE and SEND go back and forth
       * between two processes, which may share a processor and then wait for its scheduler.
       */
      int mostLatencies() {
        return this == READ ? 20_000 : 1_000;
      }

      /**
       * Returns options of perftest's latency program in addition to those of bandwidth. They make
       * it send from registered memory, as bin/verbs does, rather than inside the work request.
       */
      List<String> latencyOptions() {
        return this == READ ? List.of() : List.of("-I", "0");
      }
    }
  }
}
