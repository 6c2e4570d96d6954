// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static dev.sluice.spark.locate.Samples.SHUFFLE;
import static dev.sluice.spark.locate.Samples.location;
import static dev.sluice.spark.locate.Samples.publish;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.spark.locate.DirectoryMessage.Find;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import dev.sluice.spark.locate.LocationDirectory.Shipping;
import dev.sluice.spark.locate.Samples.Logged;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** Answers of the directory while a broadcast is pending, and without one. */
class DirectoryBroadcastsTest {
  private static final int LARGE = 10;
  private static final Duration SOON = Duration.ofSeconds(10);

  private final FakeBroadcasts broadcasts = new FakeBroadcasts();
  private final Queue<Runnable> toShip = new ArrayDeque<>();
  private final LocationDirectory directory = directory(60_000);

  private LocationDirectory directory(long timeoutMs) {
    return new LocationDirectory(
        new Shipping(broadcasts, toShip::add, timeoutMs),
        Samples.logBytes(LARGE),
        _ -> true,
        _ -> {});
  }

  @Test
  void otherQuestionsAreAnsweredWhileABroadcastIsMade() throws IOException {
    directory.handle(publish("1", locations(LARGE)));
    CompletableFuture<Table> answer = locate(directory);
    broadcasts.whenShipping(
        () -> {
          onAnotherThread(() -> directory.handle(publish("2", location(500))).get(10, SECONDS));
          onAnotherThread(() -> directory.handle(new Find("1")).get(10, SECONDS));
          onAnotherThread(
              () -> directory.handle(new Locate(SHUFFLE + 1, 0, 0, 0)).get(10, SECONDS));
          onAnotherThread(
              () -> {
                directory.executorLost("9");
                directory.unregister(SHUFFLE + 1);
                return null;
              });
        });

    ship();

    assertThat(answer).succeedsWithin(SOON);
    assertThat(broadcasts.shipped()).isEqualTo(1);
  }

  @Test
  void questionsInTheMeantimeGetTheSameBroadcast() throws IOException {
    directory.handle(publish("1", locations(LARGE)));
    CompletableFuture<Table> first = locate(directory);
    directory.handle(publish("1", location(LARGE)));
    CompletableFuture<Table> second = locate(directory);
    assertThat(first).isNotDone();
    assertThat(second).isNotDone();

    ship();

    assertThat(first.join().broadcast()).isNotEmpty().isEqualTo(second.join().broadcast());
    assertThat(broadcasts.shipped()).isEqualTo(1);
    List<Logged> all =
        Samples.read(broadcasts.fetch(second.join().broadcast()), second.join().records());
    assertThat(all).extracting(Logged::mapId).hasSize(LARGE + 1).contains((long) LARGE);
  }

  @Test
  void anAnswerGoesOutWithoutABroadcastThatFails() throws IOException {
    broadcasts.whenShipping(DirectoryBroadcastsTest::fail);
    directory.handle(publish("1", locations(LARGE)));
    CompletableFuture<Table> answer = locate(directory);

    ship();

    assertComplete(answer.join(), LARGE);
    assertComplete(locate(directory).join(), LARGE);
    assertThat(broadcasts.shipped()).as("attempts").isEqualTo(1);
  }

  @Test
  void aBroadcastIsTriedAgainWhenThereIsAsMuchMore() throws IOException {
    broadcasts.whenShipping(DirectoryBroadcastsTest::fail);
    directory.handle(publish("1", locations(LARGE)));
    locate(directory);
    ship();
    broadcasts.whenShipping(() -> {});

    directory.handle(publish("1", locations(2 * LARGE + 1)));
    CompletableFuture<Table> answer = locate(directory);
    ship();

    assertThat(answer.join().broadcast()).isNotEmpty();
    assertThat(broadcasts.live()).isEqualTo(1);
  }

  @Test
  void broadcastThatCouldNotBeBegunIsTriedAgain() throws IOException {
    Queue<Error> errors = new ArrayDeque<>(List.of(new OutOfMemoryError("of the test")));
    Executor shipper =
        task -> {
          if (!errors.isEmpty()) {
            throw errors.remove();
          }
          toShip.add(task);
        };
    LocationDirectory unlucky =
        new LocationDirectory(
            new Shipping(broadcasts, shipper, 60_000), Samples.logBytes(LARGE), _ -> true, _ -> {});
    unlucky.handle(publish("1", locations(LARGE)));
    assertThatThrownBy(() -> locate(unlucky)).hasMessage("of the test");

    CompletableFuture<Table> answer = locate(unlucky);
    ship();

    assertThat(answer.join().broadcast()).isNotEmpty();
  }

  @Test
  void anAnswerDoesNotWaitForABroadcastThatIsLate() throws IOException {
    LocationDirectory impatient = directory(1);
    impatient.handle(publish("1", locations(LARGE)));
    CompletableFuture<Table> answer = locate(impatient);
    assertThat(answer).succeedsWithin(SOON);
    assertComplete(answer.join(), LARGE);
  }

  @Test
  void recordsThatDoNotFitAMessageAreLeftOutWhenTheBroadcastFails() throws IOException {
    broadcasts.whenShipping(DirectoryBroadcastsTest::fail);
    directory.handle(publish("1", locations(300_000)));
    CompletableFuture<Table> answer = locate(directory);
    ship();
    assertThat(answer.join().executors().arrived()).hasSize(1);
    assertThat(answer.join().broadcast()).isEmpty();
    assertThat(answer.join().records()).isEmpty();
  }

  @Test
  void aBroadcastOfWithdrawnRecordsIsDestroyedAsSoonAsItIsMade() throws IOException {
    directory.handle(publish("1", locations(LARGE)));
    directory.handle(publish("2", location(500)));
    CompletableFuture<Table> answer = locate(directory);
    directory.executorLost("2");

    ship();

    assertThat(broadcasts.live()).isZero();
    assertComplete(answer.join(), LARGE);
  }

  @Test
  void aBroadcastOfAnUnregisteredShuffleIsDestroyedAsSoonAsItIsMade() throws IOException {
    directory.handle(publish("1", locations(LARGE)));
    CompletableFuture<Table> answer = locate(directory);
    directory.unregister(SHUFFLE);
    directory.handle(publish("1", location(5)));

    ship();

    assertThat(broadcasts.live()).isZero();
    assertComplete(answer.join(), 1);
  }

  /** Runs the first broadcast that waits. */
  private void ship() {
    toShip.remove().run();
    assertThat(toShip).isEmpty();
  }

  private static void fail() {
    throw new UncheckedIOException(new IOException("no space left on device"));
  }

  private static void assertComplete(Table table, int locations) throws IOException {
    assertThat(table.broadcast()).isEmpty();
    assertThat(Samples.read(table.records())).hasSize(locations);
    assertThat(table.executors().arrived()).isNotEmpty();
  }

  private static MapOutputLocation[] locations(int count) {
    MapOutputLocation[] locations = new MapOutputLocation[count];
    Arrays.setAll(locations, Samples::location);
    return locations;
  }

  private static CompletableFuture<Table> locate(LocationDirectory directory) throws IOException {
    return directory.handle(new Locate(SHUFFLE, 0, 0, 0)).thenApply(Table.class::cast);
  }

  private static void onAnotherThread(Callable<?> question) {
    CompletableFuture<Void> answered = new CompletableFuture<>();
    Thread.startVirtualThread(
        () -> {
          try {
            question.call();
            answered.complete(null);
          } catch (Exception e) {
            answered.completeExceptionally(e);
          }
        });
    assertThat(answered).succeedsWithin(SOON);
  }
}
