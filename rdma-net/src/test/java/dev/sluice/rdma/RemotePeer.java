// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import dev.sluice.rdma.providers.Providers;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.rdma.verbs.VerbsOptions.ConnectMode;
import dev.sluice.verbs.Gid;
import dev.sluice.verbs.IpLiteral;
import dev.sluice.verbs.VerbsException;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A second JVM with a region that can be READ, for effects that need two processes. One thread uses
 * and closes it.
 */
public final class RemotePeer implements AutoCloseable {
  private final Process process;
  private final BufferedReader fromPeer;
  private final BufferedWriter toPeer;
  private final RemoteRegion region;

  private RemotePeer(Process process) throws IOException {
    this.process = process;
    fromPeer = process.inputReader();
    toPeer = process.outputWriter();
    String[] words = answer().split(" ");
    region =
        new RemoteRegion(
            Long.parseLong(words[0]), Long.parseLong(words[1]), Integer.parseInt(words[2]));
  }

  /** Starts a peer whose region's i-th byte is {@code (byte) i}. */
  public static RemotePeer start(String provider, InetAddress address, long regionBytes)
      throws IOException {
    return start(provider, address, regionBytes, ConnectMode.CONTROL);
  }

  /** Starts a peer whose verbs queue pairs connect in the given mode. */
  public static RemotePeer start(
      String provider, InetAddress address, long regionBytes, ConnectMode connect)
      throws IOException {
    return new RemotePeer(
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-cp",
                    System.getProperty("java.class.path"),
                    "--enable-native-access=ALL-UNNAMED",
                    RemotePeer.class.getName(),
                    provider,
                    address.getHostAddress(),
                    Long.toString(regionBytes),
                    connect.name()))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start());
  }

  public RemoteRegion region() {
    return region;
  }

  /** Makes the peer connect a new queue pair to a local one. */
  public QueuePairAddress connect(QueuePairAddress local) throws IOException {
    toPeer.write(encode(local));
    toPeer.newLine();
    toPeer.flush();
    return decode(answer());
  }

  private String answer() throws IOException {
    String line = fromPeer.readLine();
    if (line == null) {
      throw new EOFException("the peer process ended");
    }
    return line;
  }

  /** Kills the process, like {@code kill -9}. */
  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor(30, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    try {
      toPeer.close();
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      process.destroyForcibly();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static String encode(QueuePairAddress a) {
    return "%d %d %d %d %d %d %d %s"
        .formatted(
            a.qpNumber(),
            a.psn(),
            a.lid(),
            a.gid().subnetPrefix(),
            a.gid().interfaceId(),
            a.mtu(),
            a.maxDestRdAtomic(),
            HexFormat.of().formatHex(a.providerData()));
  }

  private static QueuePairAddress decode(String line) {
    String[] words = line.split(" ", -1);
    return new QueuePairAddress(
        Integer.parseInt(words[0]),
        Integer.parseInt(words[1]),
        Integer.parseInt(words[2]),
        new Gid(Long.parseLong(words[3]), Long.parseLong(words[4])),
        Integer.parseInt(words[5]),
        Integer.parseInt(words[6]),
        HexFormat.of().parseHex(words[7]));
  }

  /** Main method of the peer: serves until its standard input ends. */
  public static void main(String[] args) throws Exception {
    InetAddress address = IpLiteral.parse(args[1]);
    VerbsOptions verbs = VerbsOptions.DEFAULT.with(o -> o.connect = ConnectMode.valueOf(args[3]));
    Device device = Providers.open(args[0], address, verbs, SoftOptions.DEFAULT);
    try (TestNode node = new TestNode(device)) {
      MemorySegment memory = node.arena.allocate(Long.parseLong(args[2]), 4096);
      for (long i = 0; i < memory.byteSize(); i++) {
        memory.set(ValueLayout.JAVA_BYTE, i, (byte) i);
      }
      MemoryRegion region = node.register(memory);
      System.out.printf("%d %d %d%n", region.address(), region.length(), region.rkey());
      BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
      in.lines().forEach(line -> System.out.println(accept(node, line)));
    }
  }

  private static String accept(TestNode node, String line) {
    try {
      QueuePair queuePair = node.createQueuePair();
      queuePair.toInit(TestNode.ALL);
      queuePair.toRtr(decode(line), ConnectionAttributes.DEFAULT);
      queuePair.toRts();
      return encode(queuePair.address());
    } catch (VerbsException e) {
      throw new UncheckedIOException(e);
    }
  }
}
