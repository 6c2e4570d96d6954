// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor.executor;

import dev.sluice.doctor.check.CheckContext;
import dev.sluice.doctor.check.CheckRunner;
import dev.sluice.doctor.peer.PeerException;
import dev.sluice.doctor.peer.PeerReader;
import dev.sluice.doctor.peer.PeerServer;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.doctor.Member;
import dev.sluice.spark.doctor.MeshNode;
import dev.sluice.spark.doctor.MeshRead;
import dev.sluice.verbs.ProviderUnavailableException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkEnv;

/**
 * Serves the other nodes' doctors, and READs from them. {@code MeshTask} makes it by its name, and
 * closes it; {@link MeshNode} names the threads. It owns a server and a reader, each with a device
 * of its own.
 */
public final class ExecutorMeshNode implements MeshNode {
  /** A node is at fault itself if its READs from so many others all fail. */
  private static final int MOST_FAILURES = 16;

  private final String host;
  private final PeerServer server;
  private final PeerReader reader;

  /**
   * @throws IOException if this executor has no device, with the reason
   */
  public ExecutorMeshNode() throws IOException {
    this(
        ExecutorCheckContext.of(SparkEnv.get(), new SluiceConf(SparkEnv.get().conf())),
        ExecutorCheckContext.host(SparkEnv.get()));
  }

  /**
   * @param host this node's name
   */
  ExecutorMeshNode(CheckContext context, String host) throws IOException {
    this.host = host;
    server = PeerServer.open(context, 0);
    try {
      reader = new PeerReader(context);
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  @Override
  public int port() {
    return server.port();
  }

  @Override
  public String failure() {
    return "";
  }

  @Override
  public int mtu() {
    return reader.localMtu();
  }

  @Override
  public List<MeshRead> readFrom(List<Member> others, Duration limit) {
    long end = System.nanoTime() + limit.toNanos();
    List<MeshRead> reads = new ArrayList<>();
    boolean works = false;
    for (Member from : others) {
      if (System.nanoTime() - end >= 0 || !works && reads.size() == MOST_FAILURES) {
        return reads;
      }
      reads.add(read(from));
      works |= !reads.getLast().failed();
    }
    readSlowOnesAgain(reads, others, end);
    return reads;
  }

  /** READs once more from slow nodes: two others may have READ from one at the same time. */
  private void readSlowOnesAgain(List<MeshRead> reads, List<Member> others, long end) {
    double median = MeshRead.median(reads);
    for (int i = 0; i < reads.size() && System.nanoTime() - end < 0; i++) {
      MeshRead first = reads.get(i);
      if (first.isSlow(median)) {
        MeshRead second = read(others.get(i));
        reads.set(i, second.bytesPerSecond() > first.bytesPerSecond() ? second : first);
      }
    }
  }

  private MeshRead read(Member from) {
    try {
      PeerReader.Measured measured =
          reader.read(new PeerAddress(from.host() + ":" + from.port(), from.host(), from.port()));
      return new MeshRead(
          host,
          from.host(),
          measured.bytesPerSecond(),
          measured.micros(),
          measured.link().bytesPerSecond());
    } catch (ProviderUnavailableException e) {
      return MeshRead.failed(
          host, from.host(), String.valueOf(e.getMessage()), CheckRunner.VERBS_DO_NOT_WORK);
    } catch (PeerException e) {
      return MeshRead.failed(host, from.host(), String.valueOf(e.getMessage()), e.set());
    } catch (RuntimeException e) {
      return MeshRead.failed(host, from.host(), e.toString(), "report it, with the executor's log");
    }
  }

  @Override
  public void close() {
    reader.close();
    try {
      server.close();
    } catch (IOException e) {
      // The port is freed with the process.
    }
  }
}
