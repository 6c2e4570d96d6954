// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The command {@code bin/verbs rping}: pings through rdma_cm, with another instance of itself or
 * with the rping of librdmacm.
 */
@Command(
    name = "rping",
    description = {
      "Connects a client and a server by rdma_cm. The server READs the client's data and WRITEs"
          + " them back. Either side may be rping of rdmacm-utils.",
      "Addresses must be those of the RDMA device's net device."
    })
final class RpingCommand implements Callable<Integer> {
  /** Maximum size: the server registers so many bytes before it knows the client's size. */
  static final int MAX_SIZE = 65536;

  /** Minimum size: room for the longest number of a ping. */
  private static final int MIN_SIZE = 26;

  @Spec private CommandSpec spec;
  @Mixin private Deadline deadline;

  @Parameters(
      arity = "0..1",
      paramLabel = "SERVER",
      description = "Host of the server; if it is absent, run as the server of one client")
  private String server;

  @Option(
      names = {"-a", "--address"},
      paramLabel = "ADDRESS",
      description = "Address at which the server listens (default: all IPv4 addresses)")
  private String address = "0.0.0.0";

  @Option(
      names = {"-p", "--port"},
      paramLabel = "PORT",
      description = "Port of the server (default: ${DEFAULT-VALUE})")
  private int port = 7174;

  @Option(
      names = {"-S", "--size"},
      paramLabel = "BYTES",
      description =
          "Bytes of the data, 26 to 65536 (default: ${DEFAULT-VALUE}); the client's value counts,"
              + " but a server in C needs the same")
  private int size = 64;

  @Option(
      names = {"-C", "--count"},
      paramLabel = "PINGS",
      description = "Number of pings (default: ${DEFAULT-VALUE}); for the client")
  private int count = 10;

  @Option(
      names = {"-v", "--verbose"},
      description = "Print the data")
  private boolean verbose;

  @Option(
      names = {"-V", "--validate"},
      description = "Compare the returned data with the offered data; for the client")
  private boolean validate;

  @Override
  public Integer call() throws IOException {
    if (size < MIN_SIZE || size > MAX_SIZE || count < 1) {
      throw new ParameterException(
          spec.commandLine(), "--size must be 26 to 65536 and --count positive");
    }
    PrintWriter out = spec.commandLine().getOut();
    InetSocketAddress where = new InetSocketAddress(server == null ? address : server, port);
    if (where.isUnresolved()) {
      throw new IOException(where.getHostString() + ": the host name is not known");
    }
    if (server == null) {
      new RpingServer(this, deadline, out).run(where);
    } else {
      new RpingClient(this, deadline, out).run(where);
    }
    return 0;
  }

  int size() {
    return size;
  }

  int count() {
    return count;
  }

  boolean validates() {
    return validate;
  }

  /** Prints data with --verbose. */
  void display(String title, MemorySegment data, int bytes, PrintWriter out) {
    if (verbose) {
      byte[] text = data.asSlice(0, bytes - 1).toArray(JAVA_BYTE);
      out.println(title + new String(text, StandardCharsets.US_ASCII));
    }
  }
}
