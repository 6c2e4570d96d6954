// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static dev.sluice.spark.locate.Samples.SHUFFLE;
import static dev.sluice.spark.locate.Samples.location;
import static dev.sluice.spark.locate.Samples.publish;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Arrival;
import dev.sluice.spark.locate.DirectoryMessage.Details;
import dev.sluice.spark.locate.DirectoryMessage.ExecutorReport;
import dev.sluice.spark.locate.DirectoryMessage.Failure;
import dev.sluice.spark.locate.DirectoryMessage.Find;
import dev.sluice.spark.locate.DirectoryMessage.Found;
import dev.sluice.spark.locate.DirectoryMessage.Kept;
import dev.sluice.spark.locate.DirectoryMessage.LiveExecutors;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Over;
import dev.sluice.spark.locate.DirectoryMessage.PeerBlocks;
import dev.sluice.spark.locate.DirectoryMessage.PeerFallbacks;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import dev.sluice.spark.locate.Samples.Logged;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class LocationDirectoryTest {
  private static final int LARGE = 10;

  private final FakeBroadcasts broadcasts = new FakeBroadcasts();
  private final Set<Integer> forgotten = new HashSet<>();
  private final List<ExecutorReport> reports = new ArrayList<>();
  private final LocationDirectory directory =
      new LocationDirectory(
          broadcasts.shipping(),
          Samples.logBytes(LARGE),
          id -> !forgotten.contains(id),
          reports::add);

  @Test
  void knowsNothingOfAnUnpublishedShuffle() throws IOException {
    Table table = locate(0, 0);
    assertThat(table.generation()).isZero();
    assertThat(table.records()).isEmpty();
  }

  @Test
  void mapOutputsAtANodeAreFoundWhenTheirExecutorIsGone() throws IOException {
    directory.handle(new Publish(Samples.atNode("1", "node"), List.of()));
    directory.handle(publish("2"));

    directory.executorLost("1");
    directory.executorLost("2");
    directory.executorLost("3");
    directory.handle(new Publish(Samples.atNode("3", "node"), List.of()));
    directory.handle(publish("2"));

    assertThat(locate(0, 0).executors().arrived())
        .extracting(Arrival::endpoint)
        .containsExactly(Samples.atNode("1", "node"), Samples.atNode("3", "node"));
    assertThat(directory.nodes()).containsExactly(Samples.atNode("1", "node").peer());
  }

  @Test
  void mapOutputsAtARestartedNodeAreFound() throws IOException {
    directory.handle(new Publish(Samples.atNode("1", "before"), List.of()));
    directory.handle(new Publish(Samples.atNode("2", "other"), List.of()));
    int known = locate(0, 0).executors().version();
    directory.executorLost("1");

    directory.nodeIsNow(Samples.atNode("1", "before").peer(), "after");

    LiveExecutors news =
        ((Table) directory.handle(new Locate(SHUFFLE, 0, 0, known)).join()).executors();
    assertThat(news.arrived())
        .extracting(Arrival::endpoint)
        .containsExactly(Samples.atNode("1", "after"));
    assertThat(news.staying().get()).hasSize(1);
    assertThat(directory.nodes())
        .containsExactlyInAnyOrder(
            Samples.atNode("1", "after").peer(), Samples.atNode("2", "other").peer());
  }

  @Test
  void mapOutputsOfLostExecutorsAreFoundAtTheNodeAddressThatALiveOneReports() throws IOException {
    directory.handle(new Publish(Samples.atNode("1", "1-since"), List.of()));
    directory.handle(new Publish(Samples.atNode("2", "1-since"), List.of()));
    directory.handle(new Publish(Samples.atNode("3", "other"), List.of()));
    directory.executorLost("1");

    directory.handle(new Publish(Samples.atNode("2", "2-since"), List.of()));

    assertThat(locate(0, 0).executors().arrived())
        .extracting(Arrival::endpoint)
        .containsExactlyInAnyOrder(
            Samples.atNode("1", "2-since"),
            Samples.atNode("2", "2-since"),
            Samples.atNode("3", "other"));
  }

  @Test
  void mapOutputsOfLostExecutorsAreNotSoughtAtANodeThatBeganAnew() throws IOException {
    directory.handle(new Publish(Samples.atNode("1", "1-before"), List.of()));
    directory.handle(new Publish(Samples.atNode("2", "1-before"), List.of()));
    directory.executorLost("1");

    directory.handle(new Publish(Samples.atNode("2", "2-reboot"), List.of()));

    assertThat(serving())
        .containsExactlyInAnyOrder(
            Samples.atNode("1", "1-before"), Samples.atNode("2", "2-reboot"));
  }

  @Test
  void mapOutputsAtARestartedNodeAreReadByItsNewProvider() throws IOException {
    PeerAddress node = Samples.atNode("1", "node").peer();
    directory.handle(new Publish(Samples.atNode("1", "node"), List.of()));
    directory.handle(new Publish(Samples.atNode("2", "node"), List.of()));
    directory.executorLost("1");

    directory.handle(new Publish(new ExecutorEndpoint("2", node, "verbs"), List.of()));

    assertThat(serving())
        .containsExactlyInAnyOrder(
            new ExecutorEndpoint("1", node, "verbs"), new ExecutorEndpoint("2", node, "verbs"));
  }

  @Test
  void anExecutorAlsoServesItsNodesMapOutputsUntilItIsGone() throws IOException {
    ExecutorEndpoint node = Samples.atNode("1", "node");
    directory.handle(new Publish(node, List.of()));
    directory.handle(publish("1", location(5)));
    directory.handle(new Publish(node, List.of()));
    assertThat(serving()).containsExactly(Samples.endpoint("1"));
    assertThat(directory.nodes()).containsExactly(node.peer());
    assertThat(directory.handle(new Find("1")))
        .isCompletedWithValue(new Found(false, Optional.of(node.peer())));
    int known = locate(0, 0).executors().version();

    directory.executorLost("1");

    assertThat(serving()).containsExactly(node);
    assertThat(Samples.read(locate(0, 0).records())).as("its own locations").isEmpty();
    assertThat(
            ((Table) directory.handle(new Locate(SHUFFLE, 0, 0, known)).join())
                .executors()
                .staying()
                .get())
        .isEmpty();
    assertThat(directory.handle(new Find("1")))
        .isCompletedWithValue(new Found(true, Optional.of(node.peer())));
  }

  @Test
  void aRestartedNodeAlsoHasTheMapOutputsThatExecutorsServe() throws IOException {
    directory.handle(publish("1", location(5)));
    directory.handle(new Publish(Samples.atNode("1", "before"), List.of()));
    directory.nodeIsNow(Samples.atNode("1", "before").peer(), "after");
    assertThat(serving()).containsExactly(Samples.endpoint("1"));

    directory.executorLost("1");
    assertThat(serving()).containsExactly(Samples.atNode("1", "after"));
  }

  @Test
  void forgettingLostExecutorsLeavesNothing() throws IOException {
    directory.handle(new Publish(Samples.atNode("1", "node"), List.of()));
    directory.handle(new Publish(Samples.atNode("2", "node"), List.of()));
    directory.executorLost("1");
    assertThat(directory.goneAtNodes()).containsExactly("1");

    directory.forgetAtNodes(Set.of("1"));
    assertThat(directory.goneAtNodes()).isEmpty();
    assertThat(serving()).containsExactly(Samples.atNode("2", "node"));
    assertThat(directory.handle(new Find("1")))
        .isCompletedWithValue(new Found(true, Optional.empty()));
  }

  @Test
  void anExecutorThatKeepsAMapOutputServesAllOfItsOwnUntilItIsGone() throws IOException {
    ExecutorEndpoint node = Samples.atNode("1", "node");
    directory.handle(new Publish(node, List.of()));
    assertThat(serving()).containsExactly(node);

    Kept kept = new Kept("1", SHUFFLE, 5, "it is full", Optional.of(Samples.endpoint("1")));
    directory.handle(kept);
    directory.handle(new Publish(node, List.of()));
    assertThat(serving()).containsExactly(Samples.endpoint("1"));

    directory.executorLost("1");
    directory.handle(kept);
    assertThat(serving()).containsExactly(node);
  }

  @Test
  void mapOutputsThatStayAreLostWithTheirExecutor() throws IOException {
    for (String executorId : List.of("1", "2", "worker-a", "worker-b")) {
      directory.handle(new Kept(executorId, SHUFFLE, 5, "the disk is full", Optional.empty()));
    }
    assertThat(directory.keptByGone()).isEmpty();

    directory.executorLost("1");
    directory.executorLost("worker-a");
    directory.handle(new Kept("1", SHUFFLE, 6, "as it went", Optional.empty()));
    directory.executorLost("3");
    directory.handle(new Kept("3", SHUFFLE, 7, "as it went", Optional.empty()));
    assertThat(directory.keptByGone())
        .isEqualTo(
            Map.of(
                "1", Map.of(SHUFFLE, Set.of(5L, 6L)),
                "3", Map.of(SHUFFLE, Set.of(7L)),
                "worker-a", Map.of(SHUFFLE, Set.of(5L))));

    directory.forgetKept(Set.of("1"));
    assertThat(directory.keptByGone()).containsOnlyKeys("3", "worker-a");
    directory.unregister(SHUFFLE);
    assertThat(directory.keptByGone()).isEmpty();
  }

  private List<ExecutorEndpoint> serving() throws IOException {
    return locate(0, 0).executors().arrived().stream().map(Arrival::endpoint).toList();
  }

  @Test
  void losingANodeLosesTheMapOutputsOfItsLostExecutors() throws IOException {
    directory.handle(new Publish(Samples.atNode("1", "node"), List.of()));
    directory.handle(new Publish(Samples.atNode("2", "node"), List.of()));
    directory.handle(new Publish(Samples.atNode("3", "other"), List.of()));
    directory.executorLost("1");
    directory.executorLost("3");

    assertThat(directory.nodeLost(Samples.atNode("1", "node").peer())).containsExactly("1");
    assertThat(directory.nodeLost(Samples.atNode("1", "node").peer())).isEmpty();

    assertThat(locate(0, 0).executors().arrived())
        .extracting(arrival -> arrival.endpoint().executorId())
        .as("one of them may serve it itself")
        .containsExactly("2", "3");
  }

  @Test
  void returnsPublishedLocationsAndTheirServers() throws IOException {
    directory.handle(publish("1", location(5)));
    directory.handle(publish("2", location(6)));

    Table table = locate(0, 0);

    assertThat(table.executors().arrived())
        .containsExactly(
            new Arrival(1, Samples.endpoint("1")), new Arrival(2, Samples.endpoint("2")));
    List<Logged> log = log(table);
    assertThat(log.get(0).location()).isEqualTo(location(5));
    assertThat(log.get(0).executor()).isEqualTo(1);
    assertThat(log.get(1).location()).isEqualTo(location(6));
    assertThat(log.get(1).executor()).isEqualTo(2);
  }

  @Test
  void returnsOnlyNewLocations() throws IOException {
    directory.handle(publish("1", location(5), location(6)));
    Table first = locate(0, 0);
    directory.handle(publish("1", location(7)));

    Table next = question(first.generation(), first.records().length, 1);

    assertThat(next.generation()).isEqualTo(first.generation());
    assertThat(next.executors().arrived()).isEmpty();
    assertThat(next.executors().staying())
        .as("executors that stay; empty stands for all")
        .isEmpty();
    List<Logged> all = Samples.read(first.records(), next.records());
    assertThat(all).extracting(Logged::mapId).containsExactly(5L, 6L, 7L);
  }

  @Test
  void aLostExecutorTakesItsRecordsWithIt() throws IOException {
    directory.handle(publish("1", location(5)));
    directory.handle(publish("2", location(6)));
    Table before = locate(0, 0);

    directory.executorLost("1");

    Table after = question(before.generation(), before.records().length, 2);
    assertThat(after.generation()).isNotEqualTo(before.generation());
    assertThat(after.executors().arrived()).isEmpty();
    assertThat(after.executors().staying()).contains(List.of(2));
    assertThat(log(after)).hasSize(1);
    assertThat(log(after).get(0).mapId()).isEqualTo(6);
  }

  /** A number far below zero would otherwise make the driver allocate gigabytes. */
  @Test
  void aQuestionThatClaimsUnknownRecordsIsRefused() throws IOException {
    directory.handle(publish("1", location(5)));
    long generation = locate(0, 0).generation();
    for (int wrong : new int[] {1000, -1, -40_000_000, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      assertThatThrownBy(() -> question(generation, wrong, 0))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("there are no more records than ");
      assertThat(question(generation, 0, wrong).executors().version()).isEqualTo(1);
    }
  }

  /** The message may have 16 MiB, and many times that as text. */
  @Test
  void anAnswerInThePlaceOfAQuestionIsNotRepeatedInTheRefusal() {
    Arrival arrival = new Arrival(1, Samples.endpoint("1"));
    LiveExecutors executors =
        new LiveExecutors(1, Collections.nCopies(1_000, arrival), Optional.of(List.of()));
    Table table = new Table(1, new byte[0], new byte[0], executors);
    assertThatThrownBy(() -> directory.handle(table))
        .isInstanceOf(IOException.class)
        .hasMessage("not a question to the location directory: Table");
  }

  @Test
  void anUnknownExecutorCanBeLost() throws IOException {
    directory.executorLost("9");
    assertThat(locate(0, 0).executors().arrived()).isEmpty();
  }

  @Test
  void anExecutorThatServesElsewhereIsAnother() throws IOException {
    directory.handle(publish("1", location(5)));
    ExecutorEndpoint elsewhere = new ExecutorEndpoint(new PeerAddress("1", "host-1", 4001), "soft");
    directory.handle(new Publish(elsewhere, List.of(new Published(SHUFFLE, location(6)))));

    Table table = locate(0, 0);

    assertThat(table.executors().arrived()).containsExactly(new Arrival(3, elsewhere));
    assertThat(log(table)).hasSize(1);
    assertThat(log(table).get(0).executor()).isEqualTo(3);
  }

  @Test
  void lateMessagesOfALostExecutorChangeNothing() throws IOException {
    directory.handle(publish("1", location(5)));
    directory.executorLost("1");
    directory.executorLost("2");

    directory.handle(publish("1", location(6)));
    directory.handle(publish("2", location(7)));

    Table table = locate(0, 0);
    assertThat(table.executors().arrived()).isEmpty();
    assertThat(log(table)).isEmpty();
  }

  @Test
  void executorsThatCameAndWentLeaveNothing() throws IOException {
    directory.handle(publish("0", location(5)));
    for (int executor = 1; executor <= 1000; executor++) {
      directory.handle(publish("" + executor, location(executor)));
      directory.executorLost("" + executor);
    }

    LiveExecutors forNew = locate(0, 0).executors();
    assertThat(forNew.arrived()).containsExactly(new Arrival(1, Samples.endpoint("0")));
    LiveExecutors forOld = question(0, 0, 1000).executors();
    assertThat(forOld.arrived()).isEmpty();
    assertThat(forOld.staying()).contains(List.of(1));
  }

  @Test
  void withdrawnLocationsAreGone() throws IOException {
    directory.handle(publish("1", location(5)));
    directory.handle(publish("2", location(6)));
    directory.handle(
        new Publish(
            Samples.endpoint("1"),
            List.of(new Published(SHUFFLE, null), new Published(SHUFFLE, location(8)))));

    List<Logged> log = log(locate(0, 0));

    assertThat(log).hasSize(2);
    assertThat(log.get(0).mapId()).isEqualTo(6);
    assertThat(log.get(1).mapId()).isEqualTo(8);
  }

  @Test
  void anUnregisteredShufflesIdMayComeBack() throws IOException {
    directory.handle(publish("1", location(5), location(6)));
    Table before = locate(0, 0);
    directory.unregister(SHUFFLE);
    assertThat(question(before.generation(), before.records().length, 1).generation()).isZero();

    directory.handle(publish("1", location(9)));

    Table after = question(before.generation(), before.records().length, 1);
    assertThat(after.generation()).isNotIn(0L, before.generation());
    assertThat(log(after)).hasSize(1);
    assertThat(log(after).get(0).mapId()).isEqualTo(9);
  }

  @Test
  void tasksThatCommitTooLatePublishNothingThatStays() throws IOException {
    directory.handle(publish("1", location(5)));
    directory.unregister(SHUFFLE);
    directory.handle(publish("1", location(6)));
    assertThat(directory.shuffles()).as("Spark has yet to forget it").isEqualTo(1);

    forgotten.add(SHUFFLE);
    directory.unregister(SHUFFLE + 1);
    directory.handle(publish("1", location(7)));

    assertThat(directory.shuffles()).isZero();
  }

  @Test
  void aLargeTableGoesByOneBroadcastForAllWithTheRestBehindIt() throws IOException {
    publishMany(0, LARGE);
    Table first = locate(0, 0);
    assertThat(first.broadcast()).isNotEmpty();
    assertThat(first.records()).isEmpty();
    publishMany(LARGE, 3);

    Table second = locate(0, 0);

    assertThat(broadcasts.shipped()).isEqualTo(1);
    assertThat(second.broadcast()).isEqualTo(first.broadcast());
    List<Logged> all = Samples.read(broadcasts.fetch(second.broadcast()), second.records());
    assertThat(all).hasSize(LARGE + 3);
    assertThat(all.get(LARGE + 2).location()).isEqualTo(location(LARGE + 2));
  }

  @Test
  void followersOfALargeTableGetItsChangesDirectly() throws IOException {
    publishMany(0, 3 * LARGE);
    Table table = question(locate(0, 0).generation(), Samples.logBytes(3 * LARGE - 2), 1);
    assertThat(table.broadcast()).isEmpty();
    assertThat(table.records())
        .hasSize(Samples.logBytes(3 * LARGE) - Samples.logBytes(3 * LARGE - 2));
  }

  @Test
  void broadcastsAreDestroyedWithTheirShuffle() throws IOException {
    publishMany(0, LARGE);
    locate(0, 0);
    publishMany(LARGE, 2 * LARGE);
    locate(0, 0);
    assertThat(broadcasts.live()).isEqualTo(2);
    directory.unregister(SHUFFLE);
    assertThat(broadcasts.live()).isZero();
  }

  @Test
  void everyBroadcastIsDestroyedThoughOneCannotBe() throws IOException {
    publishMany(0, LARGE);
    locate(0, 0);
    publishMany(LARGE, 2 * LARGE);
    locate(0, 0);
    Queue<Error> errors = new ArrayDeque<>(List.of(new NoClassDefFoundError("of the test")));
    broadcasts.whenDestroying(
        () -> {
          if (!errors.isEmpty()) {
            throw errors.remove();
          }
        });
    directory.unregister(SHUFFLE);
    assertThat(broadcasts.live()).isEqualTo(1);
  }

  @Test
  void aLostExecutorsRecordsAreInNoBroadcast() throws IOException {
    directory.handle(publish("2", location(1000)));
    publishMany(0, LARGE);
    locate(0, 0);
    directory.executorLost("2");

    Table table = locate(0, 0);

    assertThat(broadcasts.shipped()).isEqualTo(2);
    assertThat(broadcasts.live()).isEqualTo(1);
    assertThat(broadcasts.fetch(table.broadcast())).hasSize(Samples.logBytes(LARGE));
  }

  @Test
  void fallbacksByPeerAreTaken() throws IOException {
    PeerFallbacks fallbacks =
        new PeerFallbacks(2, List.of(new PeerBlocks("executor 2 at host-2", "LATE", 2)), 0);
    Details report = new Details("1", Optional.empty(), fallbacks);
    assertThat(directory.handle(report)).isCompletedWithValue(new Ack());
    assertThat(reports).containsExactly(report);
  }

  @Test
  void theAnswerToAReportListsEndedShuffles() throws IOException {
    forgotten.add(9);
    Report report =
        new Report("1", 1, "soft/soft0", Map.of("read.blocks", 3L), List.of(SHUFFLE, 9));
    assertThat(directory.handle(report)).isCompletedWithValue(new Over(List.of(9)));
    assertThat(reports).containsExactly(report);
  }

  @Test
  void failuresAreAcknowledged() throws IOException {
    assertThat(directory.handle(new Failure("1", "no device"))).isCompletedWithValue(new Ack());
  }

  private void publishMany(int from, int count) throws IOException {
    for (int i = from; i < from + count; i++) {
      directory.handle(publish("1", location(i)));
    }
  }

  private Table locate(long generation, int bytes) throws IOException {
    return question(generation, bytes, 0);
  }

  private Table question(long generation, int bytes, int executors) throws IOException {
    return (Table) directory.handle(new Locate(SHUFFLE, generation, bytes, executors)).join();
  }

  private static List<Logged> log(Table table) throws IOException {
    assertThat(table.broadcast()).isEmpty();
    return Samples.read(table.records());
  }

  @Test
  void othersAreAnsweredWhileAnUnregisteredShufflesBroadcastIsDestroyed() throws Exception {
    assertOthersAreAnsweredDuring(() -> directory.unregister(SHUFFLE));
  }

  @Test
  void othersAreAnsweredWhileALostExecutorsBroadcastIsDestroyed() throws Exception {
    assertOthersAreAnsweredDuring(() -> directory.executorLost("1"));
  }

  /**
   * @param destroys makes the directory destroy a broadcast
   */
  private void assertOthersAreAnsweredDuring(Runnable destroys) throws Exception {
    for (int mapId = 0; mapId < LARGE; mapId++) {
      directory.handle(publish("1", location(mapId)));
    }
    locate(0, 0);
    CountDownLatch destroying = new CountDownLatch(1);
    CountDownLatch proceed = new CountDownLatch(1);
    broadcasts.whenDestroying(
        () -> {
          destroying.countDown();
          await(proceed);
        });
    CompletableFuture<Void> destroyed =
        CompletableFuture.runAsync(destroys, Thread::startVirtualThread);
    await(destroying);
    CompletableFuture<Table> answer =
        CompletableFuture.supplyAsync(this::locateAll, Thread::startVirtualThread);
    try {
      assertThat(answer.get(10, SECONDS).records()).isEmpty();
    } finally {
      proceed.countDown();
    }
    destroyed.get(10, SECONDS);
    assertThat(broadcasts.live()).isZero();
  }

  private Table locateAll() {
    try {
      return locate(0, 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
