// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.conf.MemoryBudget;
import dev.sluice.blocks.conf.RegistrationMode;
import dev.sluice.doctor.check.CheckContext;
import dev.sluice.doctor.check.SparkSettings;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.doctor.Member;
import dev.sluice.spark.doctor.MeshRead;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

/** Nodes of the mesh that READ from one another, by the software provider. */
class ExecutorMeshNodeTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private static CheckContext context(String provider) {
    return context(provider, TransferOptions.DEFAULT);
  }

  private static CheckContext context(String provider, TransferOptions transfer) {
    return new CheckContext(
        Path.of("/"),
        InetAddress.getLoopbackAddress(),
        new CheckContext.Rdma(provider, VerbsOptions.DEFAULT, SoftOptions.DEFAULT, transfer),
        new CheckContext.Memory(new MemoryBudget(1, 1, 1), RegistrationMode.AUTO, List.of()),
        new CheckContext.Spark(
            List.of(), SparkSettings.NONE, new SluiceConf(new SparkConf(false)), Optional.empty()));
  }

  private static ExecutorMeshNode node() throws IOException {
    return new ExecutorMeshNode(context("soft"), "localhost");
  }

  /** Returns a node that does not serve. */
  private static Member absent() throws IOException {
    try (ServerSocket free = new ServerSocket(0)) {
      return new Member("localhost", free.getLocalPort());
    }
  }

  @Test
  void eachReadsFromTheOthers() throws Exception {
    try (ExecutorMeshNode a = node();
        ExecutorMeshNode b = node();
        ExecutorMeshNode c = node()) {
      List<Member> others =
          List.of(new Member("localhost", b.port()), new Member("localhost", c.port()));
      assertThat(a.readFrom(others, LIMIT))
          .hasSize(2)
          .allSatisfy(read -> assertThat(read.failure()).isEmpty())
          .allSatisfy(read -> assertThat(read.bytesPerSecond()).isPositive());
    }
  }

  @Test
  void aFailedPairIsReportedWithARemedyAndDisturbsNoOther() throws Exception {
    try (ExecutorMeshNode a = node();
        ExecutorMeshNode b = node()) {
      List<MeshRead> reads =
          a.readFrom(List.of(absent(), new Member("localhost", b.port())), LIMIT);
      assertThat(reads).extracting(MeshRead::failed).containsExactly(true, false);
      assertThat(reads.getFirst().failure()).contains("no doctor answers on TCP port");
      assertThat(reads.getFirst().set()).contains("firewall");
    }
  }

  /** Otherwise hundreds of others would wait for it. */
  @Test
  void aNodeThatCanReadFromNoOtherGivesUp() throws Exception {
    try (ExecutorMeshNode node = node()) {
      assertThat(node.readFrom(Collections.nCopies(100, absent()), LIMIT)).hasSize(16);
    }
  }

  /** Happens with more hosts than a device has queue pairs. */
  @Test
  void aNodeThatHasReadMakesRoomForTheNext() throws Exception {
    TransferOptions onePeer = TransferOptions.DEFAULT.with(o -> o.maxQueuePairs = 1);
    try (ExecutorMeshNode served = new ExecutorMeshNode(context("soft", onePeer), "localhost");
        ExecutorMeshNode first = node();
        ExecutorMeshNode second = node()) {
      List<Member> from = List.of(new Member("localhost", served.port()));
      assertThat(first.readFrom(from, LIMIT)).noneMatch(MeshRead::failed);
      assertThat(readOnceThereIsRoom(second, from)).noneMatch(MeshRead::failed);
      assertThat(readOnceThereIsRoom(first, from)).noneMatch(MeshRead::failed);
    }
  }

  /**
   * Retries until there is room: the message that makes room may be under way when a READ has
   * ended.
   */
  private static List<MeshRead> readOnceThereIsRoom(ExecutorMeshNode node, List<Member> from) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    List<MeshRead> reads = node.readFrom(from, LIMIT);
    while (reads.getFirst().failed() && System.nanoTime() - deadline < 0) {
      reads = node.readFrom(from, LIMIT);
    }
    return reads;
  }

  @Test
  void readingEndsInTime() throws Exception {
    try (ExecutorMeshNode node = node()) {
      assertThat(node.readFrom(List.of(absent(), absent()), Duration.ZERO)).isEmpty();
    }
  }

  @Test
  void aNodeThatCannotStartReportsTheReason() {
    assertThatThrownBy(() -> new ExecutorMeshNode(context("none"), "localhost"))
        .hasMessageContaining("not one of auto, verbs, soft");
  }
}
