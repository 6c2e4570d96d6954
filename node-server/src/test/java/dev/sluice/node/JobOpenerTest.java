// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.handover.ApplicationFolder;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Addressed;
import dev.sluice.blocks.wire.ControlMessages.Resolve;
import dev.sluice.blocks.wire.ControlMessages.Resolved;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.NodeId;
import dev.sluice.blocks.wire.NodeMessages;
import dev.sluice.blocks.wire.NodeMessages.FindJob;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.node.StateFile.ApplicationState;
import dev.sluice.rdma.log.LogCapture;
import dev.sluice.rdma.transfer.DaemonThreads;
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
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.logging.log4j.Level;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.client.TransportClientFactory;
import org.apache.spark.network.server.NoOpRpcHandler;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One job's disk hangs while the job is opened, until {@link #answer}. */
@Timeout(60)
class JobOpenerTest extends NodeDaemonTestCase {
  /** More than the threads of the port. */
  private static final int READERS = 200;

  private static final TransportConf CONF =
      new TransportConf("sluice", new MapConfigProvider(Map.of()));
  private static final MessageCodec CODEC =
      new MessageCodec(ControlMessages.TYPES, NodeMessages.TYPES);

  private final CountDownLatch answer = new CountDownLatch(1);
  private final CountDownLatch hangs = new CountDownLatch(1);
  private final AtomicInteger opened = new AtomicInteger();
  private final ScheduledExecutorService timer = DaemonThreads.timer();
  private JobFixture stuck;
  private JobFixture other;
  private NodeFolders folders;
  private volatile boolean serves;
  private volatile @Nullable NodeId server;
  private volatile @Nullable JobApplication served;
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
    timer.shutdownNow();
  }

  private ServedApplication open(ApplicationState state, List<ApplicationFolder> kept, Runnable end)
      throws IOException {
    opened.incrementAndGet();
    if (state.name().equals(stuck.name())) {
      server = new NodeId("node", state.since());
      hangs.countDown();
      try {
        answer.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
    if (!serves) {
      throw new IOException("scripted");
    }
    served =
        new JobApplication(
            NodeDevice.tryOut(NodeOptions.of(settings)),
            requireNonNull(server),
            "127.0.0.1",
            1,
            state,
            stuck.directories(),
            _ -> true,
            requireNonNull(state.job()),
            timer);
    return served;
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
  void repeatedRefusalsOfAJobAreLoggedOnce() throws Exception {
    answer.countDown();
    try (JobOpener opener = new JobOpener(applications, Duration.ofSeconds(30));
        LogCapture log = new LogCapture(JobOpener.class, Level.WARN)) {
      for (int i = 0; i < 3; i++) {
        assertThat(reason(opener.enter(jobs.find(stuck.name())))).isEqualTo("scripted");
        assertThat(reason(opener.enter(jobs.find(other.name())))).isEqualTo("scripted");
      }
      assertThat(log.messages()).hasSize(2);
      assertThat(log.messages()).anyMatch(each -> each.contains(stuck.name()));
      assertThat(log.messages()).anyMatch(each -> each.contains(other.name()));
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
    PeerAddress jobPort = freeJobPort();
    try (JobPort _ = new JobPort(jobPort.host(), jobPort.port(), jobs::find, applications);
        BlockServerClient ofStuck = client(stuck);
        BlockServerClient ofOther = client(other)) {
      assertConnected(ofStuck, jobPort);
      List<CompletableFuture<?>> waiting = new ArrayList<>();
      for (int i = 0; i < READERS; i++) {
        waiting.add(ofStuck.findJob(jobPort, stuck.name()));
      }
      hangs.await();
      assertConnected(ofStuck, jobPort); // All requests before this one have come.
      assertThat(ofOther.findJob(jobPort, other.name()))
          .failsWithin(WAIT_S, TimeUnit.SECONDS)
          .withThrowableThat()
          .withMessageContaining("scripted");
      assertThat(waiting).noneMatch(CompletableFuture::isDone);
    }
  }

  private void assertConnected(BlockServerClient ofStuck, PeerAddress jobPort) {
    assertThat(ofStuck.findJob(jobPort, other.name()))
        .failsWithin(WAIT_S, TimeUnit.SECONDS)
        .withThrowableThat()
        .withMessageContaining("the reader is one of " + stuck.name());
  }

  @Test
  void anErrorWhileASecretIsReadIsAnswered() throws Exception {
    PeerAddress jobPort = freeJobPort();
    JobLookup.Finder failing =
        _ -> {
          throw new LinkageError("scripted error");
        };
    try (JobPort _ = new JobPort(jobPort.host(), jobPort.port(), failing, applications);
        BlockServerClient reader = client(other)) {
      assertThat(reader.findJob(jobPort, other.name()))
          .failsWithin(WAIT_S, TimeUnit.SECONDS)
          .withThrowableThat()
          .withStackTraceContaining("scripted error");
    }
  }

  /** They go while their secret is read or, if that was faster, after that. */
  @Test
  void readersThatGoAwayDisturbNoOther() throws Exception {
    PeerAddress jobPort = freeJobPort();
    try (JobPort _ = new JobPort(jobPort.host(), jobPort.port(), jobs::find, applications)) {
      for (int i = 0; i < READERS; i++) {
        try (Socket socket = new Socket(jobPort.host(), jobPort.port())) {
          socket.getOutputStream().write(firstRequest(other.name()));
        }
      }
      try (BlockServerClient reader = client(other)) {
        assertThat(reader.findJob(jobPort, other.name()))
            .failsWithin(WAIT_S, TimeUnit.SECONDS)
            .withThrowableThat()
            .withMessageContaining("scripted");
      }
      assertThat(opened).as("jobs that a reader asked for").hasValue(1);
    }
  }

  @Test
  void messagesWaitInTheirOrderUntilTheJobIsOpen() throws Exception {
    serves = true;
    stuck.write(directory.resolve("node"), directory.resolve("node"), 7, 0, 100);
    PeerAddress jobPort = freeJobPort();
    List<String> answers = new CopyOnWriteArrayList<>();
    try (JobPort _ = new JobPort(jobPort.host(), jobPort.port(), jobs::find, applications);
        TransportContext context = new TransportContext(CONF, new NoOpRpcHandler());
        TransportClientFactory clients =
            context.createClientFactory(List.of(stuck.authentication(CONF)))) {
      TransportClient client = clients.createClient(jobPort.host(), jobPort.port());
      CompletableFuture<Object> found = ask(client, new FindJob(stuck.name()));
      hangs.await();
      CompletableFuture<Object> located = ask(client, resolve(JobFixture.mapId(7, 0)));
      assertThat(ask(client, resolve(new long[200_000])))
          .failsWithin(WAIT_S, TimeUnit.SECONDS)
          .withThrowableThat()
          .withMessageContaining("too many requests wait");
      found.thenRun(() -> answers.add("found"));
      located.thenRun(() -> answers.add("located"));
      answer.countDown();
      assertThat(located.get(WAIT_S, TimeUnit.SECONDS)).isInstanceOf(Resolved.class);
      assertThat(found.get(WAIT_S, TimeUnit.SECONDS)).isInstanceOf(Registered.class);
      assertThat(answers).containsExactly("found", "located");
      assertThat(served.registryCounters().get(RegistryCounter.REGISTERED_OUTPUTS)).isOne();
    }
  }

  @Test
  void messagesOfAReaderThatGoesAwayMeanwhileAreDropped() throws Exception {
    serves = true;
    stuck.write(directory.resolve("node"), directory.resolve("node"), 7, 0, 100);
    stuck.write(directory.resolve("node"), directory.resolve("node"), 8, 0, 100);
    PeerAddress jobPort = freeJobPort();
    try (JobPort _ = new JobPort(jobPort.host(), jobPort.port(), jobs::find, applications);
        TransportContext context = new TransportContext(CONF, new NoOpRpcHandler());
        TransportClientFactory clients =
            context.createClientFactory(List.of(stuck.authentication(CONF)));
        BlockServerClient reader = client(stuck)) {
      TransportClient leaving = clients.createUnmanagedClient(jobPort.host(), jobPort.port());
      ask(leaving, new FindJob(stuck.name()));
      hangs.await();
      ask(leaving, resolve(JobFixture.mapId(7, 0)));
      leaving.getChannel().close().sync();
      assertConnected(reader, jobPort);
      answer.countDown();
      PeerAddress node = new PeerAddress(String.valueOf(server), jobPort.host(), jobPort.port());
      long[] later = {JobFixture.mapId(8, 0)};
      assertThat(reader.resolve(node, JobFiles.SHUFFLE, later).get(WAIT_S, TimeUnit.SECONDS))
          .doesNotContainNull();
      assertThat(served.registryCounters().get(RegistryCounter.REGISTERED_OUTPUTS))
          .as("map outputs that were asked for")
          .isOne();
    }
  }

  private Addressed resolve(long... mapIds) {
    ProcessName named = new ProcessName(stuck.name(), String.valueOf(server));
    return new Addressed(named, "reader", new Resolve(JobFiles.SHUFFLE, mapIds));
  }

  private static CompletableFuture<Object> ask(TransportClient client, Object message)
      throws Exception {
    CompletableFuture<Object> answer = new CompletableFuture<>();
    client.sendRpc(
        ByteBuffer.wrap(CODEC.encode(message)),
        new RpcResponseCallback() {
          @Override
          public void onSuccess(ByteBuffer response) {
            try {
              answer.complete(CODEC.decode(response));
            } catch (IOException e) {
              answer.completeExceptionally(e);
            }
          }

          @Override
          public void onFailure(Throwable e) {
            answer.completeExceptionally(e);
          }
        });
    return answer;
  }

  /** Returns a request of Spark's transport that begins to authenticate by SASL. */
  private static byte[] firstRequest(String job) {
    byte[] name = job.getBytes(UTF_8);
    int body = 1 + Integer.BYTES + name.length + Integer.BYTES;
    ByteBuffer frame = ByteBuffer.allocate(21 + body);
    frame.putLong(frame.capacity()).put((byte) 3).putLong(7).putInt(body);
    return frame.put((byte) 0xEA).putInt(name.length).put(name).putInt(0).array();
  }

  private static PeerAddress freeJobPort() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      return new PeerAddress("job-port", "127.0.0.1", free.getLocalPort());
    }
  }

  private static BlockServerClient client(JobFixture job) {
    return new BlockServerClient(
        new ProcessName(job.name(), "reader"),
        CONF,
        List.of(job.authentication(CONF)),
        TransferOptions.DEFAULT,
        TimeUnit.SECONDS.toMillis(WAIT_S) - 1,
        () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()),
        Thread::startVirtualThread);
  }
}
