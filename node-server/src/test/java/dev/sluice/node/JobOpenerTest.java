// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.handover.ApplicationFolder;
import dev.sluice.blocks.wire.ApplicationSecret;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.node.StateFile.ApplicationState;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.TransferOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.crypto.AuthClientBootstrap;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One job's disk hangs while the job is opened, until {@link #answer}. */
@Timeout(60)
class JobOpenerTest extends NodeDaemonTestCase {
  /** More than the threads of the port. */
  private static final int READERS = 200;

  private final CountDownLatch answer = new CountDownLatch(1);
  private final CountDownLatch hangs = new CountDownLatch(1);
  private final AtomicInteger opened = new AtomicInteger();
  private JobFixture stuck;
  private JobFixture other;
  private NodeFolders folders;
  private NodeJobs jobs;
  private Applications applications;

  @BeforeEach
  void announce() throws Exception {
    NodeOptions options = NodeOptions.of(settings);
    folders = NodeFolders.open(options.get(NodeSettings.DIRECTORIES));
    folders.read();
    jobs = new NodeJobs(folders);
    applications = new Applications(options, folders, this::open);
    String user = System.getProperty("user.name");
    stuck =
        new JobFixture("application_1700000000000_0001", user, List.of(directory.resolve("node")));
    other =
        new JobFixture("application_1700000000000_0002", user, List.of(directory.resolve("node")));
    stuck.announce(true);
    other.announce(true);
  }

  @AfterEach
  void end() {
    answer.countDown();
    applications.close();
    folders.close();
  }

  private ServedApplication open(ApplicationState state, List<ApplicationFolder> kept, Runnable end)
      throws IOException {
    opened.incrementAndGet();
    if (state.name().equals(stuck.name())) {
      hangs.countDown();
      try {
        answer.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
    throw new IOException("scripted");
  }

  /** Waits for a refusal. */
  private static String reason(CompletableFuture<JobApplication> refused) throws Exception {
    try {
      throw new AssertionError("not refused: " + refused.get(WAIT_S, TimeUnit.SECONDS));
    } catch (ExecutionException e) {
      assertThat(e.getCause()).isInstanceOf(IOException.class);
      return e.getCause().getMessage();
    }
  }

  @Test
  void readersOfAJobShareOneThreadAndOneAnswer() throws Exception {
    try (JobOpener opener = new JobOpener(applications, Duration.ofSeconds(30))) {
      ApplicationState job = jobs.find(stuck.name());
      CompletableFuture<JobApplication> first = opener.enter(job);
      hangs.await();
      CompletableFuture<JobApplication> second = opener.enter(job);
      assertThat(reason(opener.enter(jobs.find(other.name())))).isEqualTo("scripted");
      assertThat(first).isNotDone();
      answer.countDown();
      assertThat(reason(first)).isEqualTo("scripted");
      assertThat(reason(second)).isEqualTo("scripted");
      assertThat(opened).hasValue(2);
    }
  }

  @Test
  void readersAreRefusedWhileADiskHangs() throws Exception {
    try (JobOpener opener = new JobOpener(applications, Duration.ofMillis(200))) {
      ApplicationState job = jobs.find(stuck.name());
      for (int i = 0; i < 3; i++) {
        assertThat(reason(opener.enter(job)))
            .isEqualTo("the node does not open the job in time; a disk may hang");
      }
      hangs.await();
      assertThat(opened).hasValue(1);
      answer.countDown();
      while (!reason(opener.enter(job)).equals("scripted")) {
        Thread.sleep(10);
      }
    }
  }

  @Test
  void aDiskThatHangsHoldsUpNoOtherJob() throws Exception {
    PeerAddress door = freeDoor();
    try (JobPort _ = new JobPort(door.host(), door.port(), jobs, applications);
        BlockServerClient ofStuck = client(stuck);
        BlockServerClient ofOther = client(other)) {
      assertConnected(ofStuck, door);
      List<CompletableFuture<?>> waiting = new ArrayList<>();
      for (int i = 0; i < READERS; i++) {
        waiting.add(ofStuck.findJob(door, stuck.name()));
      }
      hangs.await();
      assertConnected(ofStuck, door); // All requests before this one have come.
      assertThat(ofOther.findJob(door, other.name()))
          .failsWithin(WAIT_S, TimeUnit.SECONDS)
          .withThrowableThat()
          .withMessageContaining("scripted");
      assertThat(waiting).noneMatch(CompletableFuture::isDone);
    }
  }

  private void assertConnected(BlockServerClient ofStuck, PeerAddress door) {
    assertThat(ofStuck.findJob(door, other.name()))
        .failsWithin(WAIT_S, TimeUnit.SECONDS)
        .withThrowableThat()
        .withMessageContaining("the reader is one of " + stuck.name());
  }

  /** They go while their secret is read or, if that was faster, after that. */
  @Test
  void readersThatGoAwayDisturbNoOther() throws Exception {
    PeerAddress door = freeDoor();
    try (JobPort _ = new JobPort(door.host(), door.port(), jobs, applications)) {
      for (int i = 0; i < READERS; i++) {
        try (Socket socket = new Socket(door.host(), door.port())) {
          socket.getOutputStream().write(firstRequest(other.name()));
        }
      }
      try (BlockServerClient reader = client(other)) {
        assertThat(reader.findJob(door, other.name()))
            .failsWithin(WAIT_S, TimeUnit.SECONDS)
            .withThrowableThat()
            .withMessageContaining("scripted");
      }
      assertThat(opened).as("jobs that a reader asked for").hasValue(1);
    }
  }

  /** Returns a request of Spark's transport that begins to authenticate by SASL. */
  private static byte[] firstRequest(String job) {
    byte[] name = job.getBytes(UTF_8);
    int body = 1 + Integer.BYTES + name.length + Integer.BYTES;
    ByteBuffer frame = ByteBuffer.allocate(21 + body);
    frame.putLong(frame.capacity()).put((byte) 3).putLong(7).putInt(body);
    return frame.put((byte) 0xEA).putInt(name.length).put(name).putInt(0).array();
  }

  private static PeerAddress freeDoor() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      return new PeerAddress("door", "127.0.0.1", free.getLocalPort());
    }
  }

  private static BlockServerClient client(JobFixture job) {
    TransportConf conf = new TransportConf("sluice", new MapConfigProvider(Map.of()));
    return new BlockServerClient(
        new ProcessName(job.name(), "reader"),
        conf,
        List.of(
            new AuthClientBootstrap(conf, job.name(), new ApplicationSecret(JobFixture.SECRET))),
        TransferOptions.DEFAULT,
        TimeUnit.SECONDS.toMillis(WAIT_S) - 1,
        () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()));
  }
}
