package dev.sluice.spark.locate;

import static dev.sluice.spark.locate.Samples.SHUFFLE;
import static dev.sluice.spark.locate.Samples.location;
import static dev.sluice.spark.locate.Samples.publish;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Event;
import dev.sluice.spark.locate.DirectoryMessage.Failure;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LocationDirectoryTest {
  private static final int LARGE = 10;

  private final FakeBroadcasts broadcasts = new FakeBroadcasts();
  private final List<Report> reports = new ArrayList<>();
  private final LocationDirectory directory =
      new LocationDirectory(broadcasts, LARGE * LocationLog.RECORD_BYTES, reports::add);

  @Test
  void knowsNothingOfAShuffleThatNobodyPublished() throws IOException {
    Table table = locate(0, 0);
    assertThat(table.generation()).isZero();
    assertThat(table.records()).isEmpty();
  }

  @Test
  void givesWhatWasPublishedAndWhoServesIt() throws IOException {
    directory.handle(publish("1", location(5)));
    directory.handle(publish("2", location(6)));

    Table table = locate(0, 0);

    assertThat(table.events())
        .containsExactly(
            new Event(Samples.endpoint("1"), false), new Event(Samples.endpoint("2"), false));
    LocationLog log = log(table);
    assertThat(log.location(0)).isEqualTo(location(5));
    assertThat(log.executor(0)).isZero();
    assertThat(log.location(1)).isEqualTo(location(6));
    assertThat(log.executor(1)).isEqualTo(1);
  }

  @Test
  void givesOnlyWhatIsNew() throws IOException {
    directory.handle(publish("1", location(5), location(6)));
    Table first = locate(0, 0);
    directory.handle(publish("1", location(7)));

    Table next = question(first.generation(), 2, 1);

    assertThat(next.generation()).isEqualTo(first.generation());
    assertThat(next.events()).isEmpty();
    assertThat(log(next).count()).isEqualTo(1);
    assertThat(log(next).mapId(0)).isEqualTo(7);
  }

  @Test
  void aLostExecutorTakesItsRecordsWithIt() throws IOException {
    directory.handle(publish("1", location(5)));
    directory.handle(publish("2", location(6)));
    Table before = locate(0, 0);

    directory.executorLost("1");

    Table after = question(before.generation(), 2, 2);
    assertThat(after.generation()).isNotEqualTo(before.generation());
    assertThat(after.events()).containsExactly(new Event(Samples.endpoint("1"), true));
    assertThat(log(after).count()).isEqualTo(1);
    assertThat(log(after).mapId(0)).isEqualTo(6);
  }

  @Test
  void anUnknownExecutorCanBeLost() throws IOException {
    directory.executorLost("9");
    assertThat(locate(0, 0).events()).isEmpty();
  }

  @Test
  void anExecutorThatComesBackIsKnownAgain() throws IOException {
    directory.handle(publish("1", location(5)));
    directory.executorLost("1");
    directory.handle(publish("1", location(6)));

    Table table = locate(0, 0);

    assertThat(table.events()).extracting(Event::lost).containsExactly(false, true, false);
    assertThat(log(table).executor(0)).isEqualTo(2);
  }

  @Test
  void whatAnExecutorWithdrawsIsGone() throws IOException {
    directory.handle(publish("1", location(5)));
    directory.handle(publish("2", location(6)));
    directory.handle(
        new Publish(
            Samples.endpoint("1"),
            List.of(new Published(SHUFFLE, null), new Published(SHUFFLE, location(8)))));

    LocationLog log = log(locate(0, 0));

    assertThat(log.count()).isEqualTo(2);
    assertThat(log.mapId(0)).isEqualTo(6);
    assertThat(log.mapId(1)).isEqualTo(8);
  }

  @Test
  void anUnregisteredShufflesIdMayComeBack() throws IOException {
    directory.handle(publish("1", location(5), location(6)));
    Table before = locate(0, 0);
    directory.unregister(SHUFFLE);
    assertThat(question(before.generation(), 2, 1).generation()).isZero();

    directory.handle(publish("1", location(9)));

    Table after = question(before.generation(), 2, 1);
    assertThat(after.generation()).isNotIn(0L, before.generation());
    assertThat(log(after).count()).isEqualTo(1);
    assertThat(log(after).mapId(0)).isEqualTo(9);
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
    LocationLog all = new LocationLog();
    all.append(broadcasts.fetch(second.broadcast()));
    all.append(second.records());
    assertThat(all.count()).isEqualTo(LARGE + 3);
    assertThat(all.mapId(LARGE + 2)).isEqualTo(LARGE + 2);
  }

  @Test
  void whoFollowsALargeTableGetsItsChangesDirectly() throws IOException {
    publishMany(0, 3 * LARGE);
    Table table = question(locate(0, 0).generation(), 3 * LARGE - 2, 1);
    assertThat(table.broadcast()).isEmpty();
    assertThat(log(table).count()).isEqualTo(2);
  }

  @Test
  void broadcastsAreDestroyedWithTheirShuffle() throws IOException {
    publishMany(0, LARGE);
    locate(0, 0);
    publishMany(LARGE, LARGE);
    locate(0, 0);
    assertThat(broadcasts.live()).isEqualTo(2);
    directory.unregister(SHUFFLE);
    assertThat(broadcasts.live()).isZero();
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
    assertThat(broadcasts.fetch(table.broadcast())).hasSize(LARGE * LocationLog.RECORD_BYTES);
  }

  @Test
  void countersAndFailuresAreAcknowledged() throws IOException {
    Report report = new Report("1", 1, "soft/soft0", Map.of("read.blocks", 3L));
    assertThat(directory.handle(report)).isEqualTo(new Ack());
    assertThat(reports).containsExactly(report);
    assertThat(directory.handle(new Failure("1", "no device"))).isEqualTo(new Ack());
  }

  private void publishMany(int from, int count) throws IOException {
    for (int i = from; i < from + count; i++) {
      directory.handle(publish("1", location(i)));
    }
  }

  private Table locate(long generation, int count) throws IOException {
    return question(generation, count, 0);
  }

  private Table question(long generation, int count, int events) throws IOException {
    return (Table) directory.handle(new Locate(SHUFFLE, generation, count, events));
  }

  private static LocationLog log(Table table) {
    assertThat(table.broadcast()).isEmpty();
    LocationLog log = new LocationLog();
    log.append(table.records());
    return log;
  }
}
