// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static dev.sluice.spark.locate.Samples.SHUFFLE;
import static dev.sluice.spark.locate.Samples.location;
import static dev.sluice.spark.locate.Samples.publish;
import static dev.sluice.spark.locate.Samples.withdrawal;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Silent;
import dev.sluice.spark.locate.Locator.Located;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LocatorClientTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  private final FakeBroadcasts broadcasts = new FakeBroadcasts();
  private final LocationDirectory directory =
      new LocationDirectory(broadcasts.shipping(), 1000, _ -> true, _ -> {});
  private final Queue<Runnable> driverQuestions = new ArrayDeque<>();
  private final List<String> lost = new ArrayList<>();
  private final List<String> peerQuestions = new ArrayList<>();
  private final Map<Long, MapOutputLocation> atPeer = new HashMap<>();
  private CompletableFuture<Void> peerAnswers = CompletableFuture.completedFuture(null);
  private Error peerDefect;
  private boolean driverIsGone;

  /** Blocks the driver's answer to a report until counted down. */
  private CountDownLatch driverAnswers = new CountDownLatch(0);

  private int asked;
  private long nowNanos;
  private LocatorClient locator;

  private int flushes;
  private CompletableFuture<Void> published = CompletableFuture.completedFuture(null);

  @BeforeEach
  void newLocator() {
    locator = locator(driverQuestions::add, 10_000);
  }

  private LocatorClient locator(Executor asker, long timeoutMs) {
    return new LocatorClient(services(asker, timeoutMs));
  }

  private CompletableFuture<Void> flush() {
    flushes++;
    return published;
  }

  private LocatorClient.Services services(Executor asker, long timeoutMs) {
    return new LocatorClient.Services(
        "soft",
        new LocatorClient.Driver(
            this::driver, broadcasts, asker, Thread::startVirtualThread, this::flush),
        this::peer,
        timeoutMs,
        peer -> lost.add(peer.id()),
        () -> nowNanos);
  }

  @Test
  void asksTheDriverOnceForAllCallers() throws IOException {
    directory.handle(publish("1", location(5), location(6)));

    var first = locator.locate(SHUFFLE, "1", new long[] {5});
    var second = locator.locate(SHUFFLE, "1", new long[] {6, 5});
    answer();
    var third = locator.locate(SHUFFLE, "1", new long[] {6});

    assertThat(asked).isEqualTo(1);
    assertThat(first.join().peer()).isEqualTo(new PeerAddress("1", "host-1", 4000));
    assertThat(first.join().outputs()).containsExactly(location(5));
    assertThat(second.join().outputs()).containsExactly(location(6), location(5));
    assertThat(third.join().outputs()).containsExactly(location(6));
    assertThat(peerQuestions).isEmpty();
  }

  @Test
  void asksTheDriverBeforeAnAnnouncedTaskComes() throws IOException {
    directory.handle(publish("1", location(5)));

    locator.prepare(SHUFFLE);
    locator.prepare(SHUFFLE);
    answer();
    var located = locator.locate(SHUFFLE, "1", new long[] {5});
    locator.prepare(SHUFFLE);

    assertThat(located).isDone();
    assertThat(located.join().outputs()).containsExactly(location(5));
    assertThat(driverQuestions).isEmpty();
    assertThat(asked).isEqualTo(1);
  }

  @Test
  void hasPublishedItsLocationsWhenTheFirstTaskOfAShuffleBegins() {
    locator.prepare(SHUFFLE);
    locator.prepare(SHUFFLE);
    locator.prepare(SHUFFLE + 1);
    assertThat(flushes).isEqualTo(2);
  }

  @Test
  void asksForOthersWhenItsOwnArePublished() throws IOException {
    published = new CompletableFuture<>();
    locator.prepare(SHUFFLE);
    var located = locator.locate(SHUFFLE, "1", new long[] {5});
    assertThat(driverQuestions).isEmpty();

    directory.handle(publish("1", location(5))); // published at the same time as this executor's
    published.complete(null);
    answer();

    assertThat(located.join().outputs()).containsExactly(location(5));
    assertThat(asked).isEqualTo(1);
    assertThat(peerQuestions).isEmpty();
  }

  /** Publishing may be retried for a minute, while the driver answers other questions. */
  @Test
  void asksTheDriverEvenIfPublishingDoesNotComplete() throws IOException {
    directory.handle(publish("1", location(5)));
    published = new CompletableFuture<>();
    locator = locator(Runnable::run, 10_000);
    locator.prepare(SHUFFLE);
    assertThat(locator.locate(SHUFFLE, "1", new long[] {5}))
        .succeedsWithin(DEADLINE)
        .satisfies(located -> assertThat(located.outputs()).containsExactly(location(5)));
  }

  @Test
  void doesNotWaitForEverForADriverThatIsToldNothing() {
    published = new CompletableFuture<>();
    locator = locator(_ -> {}, 1);
    locator.prepare(SHUFFLE);
    assertThat(locator.locate(SHUFFLE, "1", new long[] {5}).join().peer()).isNull();
  }

  @Test
  void asksThePeerOnceForLocationsThatTheTableLacks() throws IOException {
    directory.handle(publish("1", location(5)));
    atPeer.put(8L, location(8));

    assertThat(locate("1", 5, 8).outputs()).containsExactly(location(5), location(8));
    assertThat(locate("1", 8).outputs()).containsExactly(location(8));

    assertThat(peerQuestions).containsExactly("1 [8]");
  }

  @Test
  void asksTheDriverForTheHolderOfMissingBlocks() throws IOException {
    directory.handle(publish("1", location(5)));
    assertThat(locate("1", 5).peer().id()).isEqualTo("1");
    assertThat(locator.servesItself("1")).isTrue();
    directory.handle(new Publish(Samples.atNode("1", "node"), List.of()));
    directory.executorLost("1");
    nowNanos += TimeUnit.SECONDS.toNanos(2);

    var first = locator.find("1");
    var second = locator.find("1");
    int before = asked;
    answer();

    PeerAddress node = Samples.atNode("1", "node").peer();
    assertThat(first.join()).isEqualTo(new Locator.Whereabouts(Optional.of(node), true));
    assertThat(second.join()).isEqualTo(first.join());
    assertThat(asked - before).as("one question for both, and one for the old table").isEqualTo(2);
    assertThat(locator.servesItself("1")).isFalse();
    assertThat(locator.node("1")).contains(node);
  }

  @Test
  void answersFromItsOwnKnowledgeIfTheDriverDoesNotAnswer() {
    driverIsGone = true;
    var found = locator.find("1");
    answer();
    assertThat(found.join()).isEqualTo(new Locator.Whereabouts(Optional.empty(), false));
  }

  /** The driver asks the node itself, for seconds: other questions must not wait for that. */
  @Test
  void theDriverIsToldOnceOfANodeThatDoesNotAnswer() {
    driverAnswers = new CountDownLatch(1);
    PeerAddress node = Samples.atNode("1", "node").peer();
    var first = locator.report(node);
    var second = locator.report(node);
    assertThat(driverQuestions).isEmpty();
    assertThat(first).isNotDone();
    driverAnswers.countDown();
    first.join();
    assertThat(second).isCompleted();
    assertThat(asked).isEqualTo(1);
  }

  @Test
  void asksNoNodeForLocationsThatHasNotAnsweredOthers() throws IOException {
    UnresponsiveNodes unresponsive = new UnresponsiveNodes(() -> nowNanos);
    locator = new LocatorClient(services(driverQuestions::add, 10_000), unresponsive);
    directory.handle(new Publish(Samples.atNode("1", "node"), List.of()));
    atPeer.put(8L, location(8));
    unresponsive.add(Samples.atNode("1", "node").peer());
    assertThat(locate("1", 8).outputs()).containsOnlyNulls();
    assertThat(peerQuestions).isEmpty();

    unresponsive.remove(Samples.atNode("1", "node").peer());
    assertThat(locate("1", 8).outputs()).containsExactly(location(8));
  }

  @Test
  void aNodeThatGivesNoLocationsInTimeIsLeftAlone() throws IOException {
    UnresponsiveNodes unresponsive = new UnresponsiveNodes(() -> nowNanos);
    locator = new LocatorClient(services(driverQuestions::add, 10_000), unresponsive);
    directory.handle(new Publish(Samples.atNode("1", "node"), List.of()));
    directory.handle(publish("2"));
    peerAnswers = CompletableFuture.failedFuture(new IOException("refused"));
    locate("1", 8);
    assertThat(unresponsive.contains(Samples.atNode("1", "node").peer())).isFalse();

    peerAnswers = CompletableFuture.failedFuture(new IOException("late", new TimeoutException()));
    locate("1", 9);
    locate("2", 9);
    assertThat(unresponsive.contains(Samples.atNode("1", "node").peer())).isTrue();
    assertThat(unresponsive.contains(Samples.endpoint("2").peer()))
        .as("executor 2 is not at a node")
        .isFalse();
  }

  @Test
  void oneTaskAtATimeTriesANodeAgain() {
    UnresponsiveNodes unresponsive = new UnresponsiveNodes(() -> nowNanos);
    PeerAddress node = Samples.atNode("1", "node").peer();
    unresponsive.add(node);
    assertThat(unresponsive.admits(node)).isFalse();
    nowNanos += TimeUnit.MINUTES.toNanos(1);
    assertThat(unresponsive.admits(node)).isTrue();
    assertThat(unresponsive.contains(node)).as("it is being tried").isTrue();
    assertThat(unresponsive.admits(node)).isFalse();
    unresponsive.remove(node);
    assertThat(unresponsive.contains(node)).isFalse();
  }

  @Test
  void callersShareAQuestionToAPeer() throws IOException {
    directory.handle(publish("1"));
    atPeer.put(8L, location(8));
    atPeer.put(9L, location(9));
    peerAnswers = new CompletableFuture<>();
    var first = locator.locate(SHUFFLE, "1", new long[] {8});
    answer();
    var second = locator.locate(SHUFFLE, "1", new long[] {9, 8});
    answer();
    assertThat(second).isNotDone();

    peerAnswers.complete(null);

    assertThat(first.join().outputs()).containsExactly(location(8));
    assertThat(second.join().outputs()).containsExactly(location(9), location(8));
    assertThat(peerQuestions).containsExactly("1 [8]", "1 [9]");
  }

  @Test
  void locationsThatThePeerDeniesAreNotAskedForAgainAtOnce() throws IOException {
    directory.handle(publish("1"));
    assertThat(locate("1", 8).outputs()).containsExactly((MapOutputLocation) null);
    assertThat(locate("1", 8).outputs()).containsExactly((MapOutputLocation) null);
    assertThat(peerQuestions).hasSize(1);

    atPeer.put(8L, location(8));
    nowNanos += TimeUnit.SECONDS.toNanos(10);

    assertThat(locate("1", 8).outputs()).containsExactly(location(8));
  }

  @Test
  void aPeerThatFailsToAnswerDenies() throws IOException {
    directory.handle(publish("1"));
    peerAnswers = CompletableFuture.failedFuture(new IOException("connection refused"));
    assertThat(locate("1", 8).outputs()).containsExactly((MapOutputLocation) null);
  }

  @Test
  void aPeerThatCannotBeAskedIsAskedAgain() throws IOException {
    directory.handle(publish("1"));
    peerDefect = new OutOfMemoryError("scripted");
    assertThat(locate("1", 8).outputs()).containsExactly((MapOutputLocation) null);

    peerDefect = null;
    atPeer.put(8L, location(8));
    nowNanos += TimeUnit.SECONDS.toNanos(10);
    assertThat(locate("1", 8).outputs()).containsExactly(location(8));
  }

  @Test
  void asksANodeForTheMapOutputsOfItsExecutors() throws IOException {
    directory.handle(new Publish(Samples.atNode("1", "node"), List.of()));
    directory.handle(new Publish(Samples.atNode("2", "node"), List.of()));
    directory.handle(publish("3"));
    directory.executorLost("1");
    atPeer.put(8L, location(8));
    atPeer.put(9L, location(9));

    assertThat(locate("1", 8).outputs()).containsExactly(location(8));
    assertThat(locate("2", 9).peer()).isEqualTo(Samples.atNode("2", "node").peer());

    assertThat(peerQuestions).containsExactly("node [8]", "node [9]");
    assertThat(locator.node("1")).contains(Samples.atNode("1", "node").peer());
    assertThat(locator.node("3")).as("executor 3 serves its own map outputs").isEmpty();
    assertThat(locator.node("4")).as("executor 4 is unknown").isEmpty();
  }

  @Test
  void locationsOfARestartedNodeAreAskedForAnew() throws IOException {
    directory.handle(new Publish(Samples.atNode("1", "before"), List.of()));
    atPeer.put(8L, location(8));
    assertThat(locate("1", 8).outputs()).containsExactly(location(8));

    directory.nodeIsNow(Samples.atNode("1", "before").peer(), "after");
    atPeer.put(8L, location(8, 1));
    nowNanos += TimeUnit.SECONDS.toNanos(2);
    locate("1", 9); // This one is not known, so the locator asks the driver.

    assertThat(locate("1", 8).outputs()).containsExactly(location(8, 1));
    assertThat(peerQuestions).containsExactly("before [8]", "after [9]", "after [8]");
    assertThat(lost).containsExactly("before");
  }

  @Test
  void anExecutorWithoutAnEndpointIsNoPeer() throws IOException {
    directory.handle(publish("1", location(5)));
    Located located = locate("2", 5);
    assertThat(located.peer()).isNull();
    assertThat(located.outputs()).containsExactly((MapOutputLocation) null);
    assertThat(peerQuestions).isEmpty();
  }

  @Test
  void anExecutorWithAnotherProviderIsNoPeer() throws IOException {
    directory.handle(
        new Publish(
            new ExecutorEndpoint(new PeerAddress("1", "host", 1), "verbs"),
            publish("1").outputs()));
    assertThat(locate("1", 5).peer()).isNull();
  }

  @Test
  void anEntryOfAnotherExecutorIsIgnored() throws IOException {
    directory.handle(publish("1", location(5)));
    directory.handle(publish("2"));
    atPeer.put(5L, location(5, 1));
    assertThat(locate("2", 5).outputs()).containsExactly(location(5, 1));
    assertThat(locate("1", 5).outputs()).containsExactly(location(5));
  }

  @Test
  void refreshesForNewLocationsButNotTooOften() throws IOException {
    directory.handle(publish("1", location(5)));
    locate("1", 5);
    directory.handle(publish("1", location(6)));

    assertThat(locate("1", 6).outputs()).containsExactly((MapOutputLocation) null);
    assertThat(asked).isEqualTo(1);
    nowNanos += TimeUnit.SECONDS.toNanos(2);
    assertThat(locate("1", 6).outputs()).containsExactly(location(6));
    assertThat(asked).isEqualTo(2);
  }

  @Test
  void aStaleLocationIsAskedOfThePeer() throws IOException {
    directory.handle(publish("1", location(5)));
    locate("1", 5);
    atPeer.put(5L, location(5, 1));

    locator.invalidate(SHUFFLE, location(5));

    assertThat(locate("1", 5).outputs()).containsExactly(location(5, 1));
    assertThat(peerQuestions).containsExactly("1 [5]");
  }

  @Test
  void aLocationThatWasReplacedAlreadyIsNotInvalidated() throws IOException {
    directory.handle(publish("1", location(5, 1)));
    locate("1", 5);
    locator.invalidate(SHUFFLE, location(5));
    assertThat(locate("1", 5).outputs()).containsExactly(location(5, 1));
    assertThat(peerQuestions).isEmpty();
  }

  @Test
  void aStaleAnswerOfAPeerIsAskedForAgain() throws IOException {
    directory.handle(publish("1"));
    atPeer.put(5L, location(5));
    locate("1", 5);
    atPeer.put(5L, location(5, 1));
    locator.invalidate(SHUFFLE, location(5));
    assertThat(locate("1", 5).outputs()).containsExactly(location(5, 1));
  }

  @Test
  void hearsOfLostExecutorsWithTheNextTable() throws IOException {
    directory.handle(publish("1", location(5)));
    directory.handle(publish("2", location(6)));
    locate("1", 5);
    directory.executorLost("1");
    nowNanos += TimeUnit.SECONDS.toNanos(2);

    assertThat(locate("2", 6, 7).outputs()).containsExactly(location(6), null);

    assertThat(lost).containsExactly("1");
    assertThat(locate("1", 5).peer()).isNull();
  }

  @Test
  void aForgottenShuffleIsFetchedAnew() throws IOException {
    directory.handle(publish("1", location(5)));
    locate("1", 5);
    directory.unregister(SHUFFLE);
    locator.forget(SHUFFLE);
    directory.handle(publish("1", location(9)));
    assertThat(locate("1", 9).outputs()).containsExactly(location(9));
  }

  @Test
  void aShuffleThatWasNotReadForLongIsForgotten() throws IOException {
    directory.handle(publish("1", location(5)));
    locate("1", 5);
    assertThat(asked).isEqualTo(1);
    nowNanos += TimeUnit.MINUTES.toNanos(11);
    locator.prepare(SHUFFLE + 1);
    answer();

    assertThat(locate("1", 5).outputs()).containsExactly(location(5));

    assertThat(asked).isEqualTo(3);
  }

  @Test
  void locationsThatWereNotReadForAWhileAreRefreshedBeforeUse() throws IOException {
    directory.handle(publish("1", location(5)));
    atPeer.put(8L, location(8));
    assertThat(locate("1", 5, 8).outputs()).containsExactly(location(5), location(8));

    directory.handle(withdrawal("1"));
    directory.handle(publish("1", location(8, 1)));
    atPeer.put(5L, location(5, 1));
    nowNanos += TimeUnit.SECONDS.toNanos(11);
    locator.prepare(SHUFFLE);

    assertThat(locate("1", 5, 8).outputs()).containsExactly(location(5, 1), location(8, 1));
    assertThat(asked).isEqualTo(2);
  }

  /** The executor has withdrawn that location, but the driver never had it. */
  @Test
  void locationsFromAnExecutorAreNotTakenForTheDriversNews() throws IOException {
    directory.handle(publish("1", location(5)));
    atPeer.put(8L, location(8));
    assertThat(locate("1", 5, 8).outputs()).containsExactly(location(5), location(8));

    atPeer.put(8L, location(8, 1));
    nowNanos += TimeUnit.SECONDS.toNanos(11);
    locator.prepare(SHUFFLE);
    answer();

    assertThat(locate("1", 5, 8).outputs()).containsExactly(location(5), location(8, 1));
  }

  /** The executor may have withdrawn idle locations, while tasks READ others of the shuffle. */
  @Test
  void unreadLocationsOfAnExecutorAreRefreshedBeforeUse() throws IOException {
    directory.handle(publish("1", location(5), location(6)));
    directory.handle(publish("2", location(7)));
    locate("1", 5);
    directory.handle(withdrawal("1"));
    directory.handle(publish("1", location(6, 1)));
    atPeer.put(5L, location(5, 1));
    for (int i = 0; i < 4; i++) {
      nowNanos += TimeUnit.SECONDS.toNanos(4);
      assertThat(locate("2", 7).outputs()).containsExactly(location(7));
    }

    var first = locator.locate(SHUFFLE, "1", new long[] {5});
    var second = locator.locate(SHUFFLE, "1", new long[] {6});
    answer();

    assertThat(first.join().outputs()).containsExactly(location(5, 1));
    assertThat(second.join().outputs()).containsExactly(location(6, 1));
    assertThat(asked).isEqualTo(2);
  }

  /** The executor may have withdrawn locations, without news from the driver. */
  @Test
  void anExecutorIsAskedItselfWhereTheDriverHasNoNewsOfIt() throws IOException {
    directory.handle(publish("1", location(5)));
    directory.handle(publish("2", location(6)));
    assertThat(locate("1", 5).outputs()).containsExactly(location(5));
    atPeer.put(5L, location(5, 1));
    driverIsGone = true;
    nowNanos += TimeUnit.SECONDS.toNanos(11);

    assertThat(locate("1", 5).outputs()).containsExactly(location(5, 1));
    assertThat(locate("1", 5).outputs()).containsExactly(location(5, 1));
    assertThat(peerQuestions).hasSize(1);
    driverIsGone = false;
    nowNanos += TimeUnit.SECONDS.toNanos(2);
    assertThat(locate("2", 6).outputs()).containsExactly(location(6));
  }

  /** News count for all executors, even if no task asked for their locations. */
  @Test
  void newsAreBelievedOfAllExecutors() throws IOException {
    directory.handle(publish("1", location(5)));
    directory.handle(publish("2", location(6)));
    locate("1", 5);
    nowNanos += TimeUnit.SECONDS.toNanos(9);

    assertThat(locate("2", 6).outputs()).containsExactly(location(6));
    nowNanos += TimeUnit.SECONDS.toNanos(9);
    assertThat(locate("2", 6).outputs()).containsExactly(location(6));

    assertThat(asked).isEqualTo(1);
  }

  @Test
  void requestsDuringARefreshWaitForItToo() throws Exception {
    directory.handle(publish("1", location(5)));
    atPeer.put(5L, location(5, 1));
    CompletableFuture<CompletableFuture<Located>> second = new CompletableFuture<>();
    locator =
        locator(
            question -> {
              driverQuestions.add(question);
              if (asked > 0) {
                Thread.ofPlatform()
                    .daemon()
                    .start(() -> second.complete(locator.locate(SHUFFLE, "1", new long[] {5})));
                // The question may have to wait until this returns.
                second.copy().completeOnTimeout(null, 100, TimeUnit.MILLISECONDS).join();
              }
            },
            10_000);
    locate("1", 5);
    directory.handle(withdrawal("1"));
    nowNanos += TimeUnit.SECONDS.toNanos(11);

    var first = locator.locate(SHUFFLE, "1", new long[] {5});
    var other = second.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    answer();

    assertThat(first.join().outputs()).containsExactly(location(5, 1));
    assertThat(other.join().outputs()).containsExactly(location(5, 1));
  }

  @Test
  void aReusedShuffleIdReplacesTheTable() throws IOException {
    directory.handle(publish("1", location(5), location(6)));
    locate("1", 5);
    directory.unregister(SHUFFLE);
    directory.handle(publish("1", location(9)));
    nowNanos += TimeUnit.SECONDS.toNanos(2);
    assertThat(locate("1", 9).outputs()).containsExactly(location(9));
    assertThat(locate("1", 5).outputs()).containsExactly((MapOutputLocation) null);
  }

  @Test
  void fetchesALargeTableByBroadcast() throws IOException {
    for (int i = 0; i < 1000; i++) {
      directory.handle(publish("1", location(i)));
    }
    long[] all = new long[1000];
    Arrays.setAll(all, i -> i);
    assertThat(locate("1", all).outputs()).doesNotContainNull().endsWith(location(999));
    assertThat(broadcasts.fetched()).isEqualTo(1);
  }

  @Test
  void aBroadcastThatFailsCostsTheTableAndNotTheExecutors() throws IOException {
    for (int i = 0; i < 1000; i++) {
      directory.handle(publish("1", location(i)));
    }
    directory.handle(publish("2"));
    broadcasts.fail();
    atPeer.put(5L, location(5));

    assertThat(locate("1", 5).outputs()).containsExactly(location(5));
    assertThat(locate("2").peer()).isNotNull();
    assertThat(peerQuestions).containsExactly("1 [5]");
  }

  @Test
  void completesWhereTheDriverDoesNotAnswer() {
    driverIsGone = true;
    assertThat(locate("1", 5).peer()).isNull();
  }

  @Test
  void completesWhereTheDriverTakesTooLong() {
    LocatorClient impatient = locator(_ -> {}, 1);
    assertThat(impatient.locate(SHUFFLE, "1", new long[] {5}))
        .succeedsWithin(DEADLINE)
        .satisfies(located -> assertThat(located.peer()).isNull());
  }

  @Test
  void completesWhereThereIsNoMemoryForAThread() {
    LocatorClient poor =
        locator(
            _ -> {
              throw new OutOfMemoryError("unable to create native thread");
            },
            10_000);
    Locator.Whereabouts unknown = new Locator.Whereabouts(Optional.empty(), false);
    assertThat(poor.find("1")).isCompletedWithValue(unknown);
    assertThat(poor.find("1")).isCompletedWithValue(unknown);
    assertThat(poor.locate(SHUFFLE, "1", new long[] {5}))
        .isCompletedWithValueMatching(located -> located.peer() == null);
  }

  @Test
  void completesWhileTheExecutorStops() {
    LocatorClient stopping =
        locator(
            _ -> {
              throw new RejectedExecutionException();
            },
            10_000);
    assertThat(stopping.locate(SHUFFLE, "1", new long[] {5}))
        .isCompletedWithValueMatching(located -> located.peer() == null);
  }

  private Located locate(String executorId, long... mapIds) {
    CompletableFuture<Located> located = locator.locate(SHUFFLE, executorId, mapIds);
    answer();
    assertThat(located).isCompleted();
    return located.join();
  }

  private void answer() {
    while (!driverQuestions.isEmpty()) {
      driverQuestions.remove().run();
    }
  }

  private DirectoryMessage driver(DirectoryMessage question) throws IOException {
    asked++;
    if (driverIsGone) {
      throw new IOException("the driver is gone");
    }
    if (question instanceof Silent) {
      await(driverAnswers);
      return new Ack();
    }
    byte[] answer = directory.handle(DirectoryMessage.decode(question.encode())).join().encode();
    return DirectoryMessage.decode(answer);
  }

  private static void await(CountDownLatch latch) throws IOException {
    try {
      if (!latch.await(30, TimeUnit.SECONDS)) {
        throw new IOException("the driver does not answer");
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private CompletableFuture<List<MapOutputLocation>> peer(
      PeerAddress peer, int shuffleId, long[] mapIds) {
    peerQuestions.add(peer.id() + " " + Arrays.toString(mapIds));
    if (peerDefect != null) {
      throw peerDefect;
    }
    return peerAnswers.thenApply(_ -> Arrays.stream(mapIds).mapToObj(atPeer::get).toList());
  }
}
