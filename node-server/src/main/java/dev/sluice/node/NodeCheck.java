// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.conf.Setting;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Checks whether a daemon could start with its arguments, without starting one: {@code sluice-node
 * --check}. Each finding is a line. {@link NodeMain} makes it and prints it, on the main thread. It
 * leaves nothing open, and writes only the lock of an existing folder.
 */
final class NodeCheck {
  /** Longest path of a Unix domain socket on Linux, in bytes. */
  private static final int MAX_SOCKET_BYTES = 107;

  /** A finding about one part: {@code ok}, {@code warn} or {@code fail}. */
  record Finding(String verdict, String what, String detail) {
    static Finding ok(Object what, String detail) {
      return new Finding("ok", what.toString(), detail);
    }

    static Finding warn(Object what, String detail) {
      return new Finding("warn", what.toString(), detail);
    }

    static Finding fail(Object what, Exception reason) {
      String message = reason.getMessage() == null ? reason.toString() : reason.getMessage();
      return new Finding("fail", what.toString(), message);
    }

    boolean isFailure() {
      return verdict.equals("fail");
    }
  }

  /** Checks one part. */
  @FunctionalInterface
  private interface Look {
    /**
     * @throws Exception if the daemon cannot start, with the reason
     */
    Finding at() throws Exception;
  }

  private final List<Finding> findings = new ArrayList<>();

  private NodeCheck() {}

  static NodeCheck of(NodeArguments arguments) {
    NodeCheck check = new NodeCheck();
    try {
      NodeOptions options = arguments.options();
      check.findings.add(Finding.ok("settings", "all keys are known, and all values are allowed"));
      check.lookAt(options);
    } catch (IOException | IllegalArgumentException e) {
      check.findings.add(Finding.fail("settings", e));
    }
    return check;
  }

  private void lookAt(NodeOptions options) {
    look(NodeSettings.HOST, () -> host(options));
    look(NodeSettings.PROVIDER, () -> device(options));
    for (Path directory : options.get(NodeSettings.DIRECTORIES)) {
      look(directory, () -> directory(directory.toAbsolutePath(), options));
    }
    look(NodeSettings.SOCKET, () -> socket(options.get(NodeSettings.SOCKET).toAbsolutePath()));
    look(NodeSettings.PORTS, () -> ports(options));
    options.get(NodeSettings.MAPREDUCE_PORT).ifPresent(port -> findings.add(jobs(port)));
    options.get(NodeSettings.HTTP).ifPresent(address -> findings.add(pages(address)));
  }

  private void look(Setting<?> setting, Look look) {
    look(setting.key(), look);
  }

  private void look(Object what, Look look) {
    try {
      findings.add(look.at());
    } catch (Exception e) {
      findings.add(Finding.fail(what, e));
    }
  }

  private static Finding host(NodeOptions options) throws IOException {
    String host = options.host();
    return Finding.ok(
        NodeSettings.HOST.key(),
        "readers reach this node at %s (%s)"
            .formatted(host, InetAddress.getByName(host).getHostAddress()));
  }

  private static Finding device(NodeOptions options) throws IOException {
    NodeDevice device = NodeDevice.tryOut(options);
    return Finding.ok(
        NodeSettings.PROVIDER.key(), "%s; %s".formatted(device.provider(), device.memory()));
  }

  /** Checks on another thread, which is not waited for if the disk does not answer. */
  private static Finding directory(Path directory, NodeOptions options) throws IOException {
    return new NodeDisks(List.of(directory))
        .onAll("checking", root -> lookInto(root, options))
        .getFirst();
  }

  private static Finding lookInto(Path directory, NodeOptions options) {
    Path root = NodeFolders.root(directory);
    try (RootLocks locks = new RootLocks()) {
      if (Files.exists(root)) {
        locks.lock(root);
      } else if (!Files.isDirectory(directory) || !Files.isWritable(directory)) {
        throw new IOException("%s is not a writable directory".formatted(directory));
      }
      long free = directory.toFile().getUsableSpace();
      String detail = "%d MiB are free".formatted(free >> 20);
      return free >= options.get(NodeSettings.MIN_FREE_BYTES)
          ? Finding.ok(directory, detail)
          : Finding.warn(
              directory,
              "%s, less than %s: map outputs are refused"
                  .formatted(detail, NodeSettings.MIN_FREE_BYTES.key()));
    } catch (IOException e) {
      return Finding.fail(directory, e);
    }
  }

  private static Finding socket(Path socket) throws IOException {
    if (socket.toString().getBytes(StandardCharsets.UTF_8).length > MAX_SOCKET_BYTES) {
      throw new IOException(
          "the path %s is longer than %d bytes".formatted(socket, MAX_SOCKET_BYTES));
    }
    Path folder = socket.getParent();
    while (folder != null && !Files.exists(folder)) { // The daemon makes missing folders.
      folder = folder.getParent();
    }
    if (folder == null || !Files.isDirectory(folder) || !Files.isWritable(folder)) {
      throw new IOException("%s is not a writable directory".formatted(folder));
    }
    if (Files.exists(socket) && SocketServer.isListenedAt(socket)) {
      throw new IOException("another daemon listens at " + socket);
    }
    return Finding.ok(NodeSettings.SOCKET.key(), socket.toString());
  }

  private static Finding ports(NodeOptions options) throws IOException {
    NodeOptions.Ports ports = options.get(NodeSettings.PORTS);
    int applications = options.get(NodeSettings.MAX_APPLICATIONS);
    int count = ports.last() - ports.first() + 1;
    long free =
        IntStream.rangeClosed(ports.first(), ports.last())
            .filter(port -> isFree(new InetSocketAddress(port)))
            .count();
    String detail =
        "%d of %d ports are free, for %d applications at a time (%s)"
            .formatted(free, count, applications, NodeSettings.MAX_APPLICATIONS.key());
    if (free == 0) {
      throw new IOException(detail);
    }
    return ports.first() > 0 && free < applications
        ? Finding.warn(NodeSettings.PORTS.key(), detail)
        : Finding.ok(NodeSettings.PORTS.key(), ports.first() > 0 ? detail : "any free port");
  }

  /** A warning at most: the daemon also starts without its pages. */
  private static Finding pages(InetSocketAddress address) {
    return isFree(address)
        ? Finding.ok(NodeSettings.HTTP.key(), address.toString())
        : Finding.warn(
            NodeSettings.HTTP.key(),
            address + " cannot be bound; until it can, the daemon runs without metrics and health");
  }

  /** A warning at most, as for the pages. */
  private static Finding jobs(int port) {
    return isFree(new InetSocketAddress(port))
        ? Finding.ok(NodeSettings.MAPREDUCE_PORT.key(), "port " + port + " is free")
        : Finding.warn(
            NodeSettings.MAPREDUCE_PORT.key(),
            "port " + port + " cannot be bound; until it can, MapReduce jobs are not served");
  }

  private static boolean isFree(InetSocketAddress address) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(address);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  List<Finding> findings() {
    return findings;
  }

  /**
   * Prints a line for each finding.
   *
   * @return true if a daemon could start
   */
  boolean print(PrintStream out) {
    for (Finding finding : findings) {
      out.printf("%-4s  %s: %s%n", finding.verdict(), finding.what(), finding.detail());
    }
    boolean isGood = findings.stream().noneMatch(Finding::isFailure);
    out.println(isGood ? "The daemon can start." : "The daemon cannot start.");
    return isGood;
  }
}
