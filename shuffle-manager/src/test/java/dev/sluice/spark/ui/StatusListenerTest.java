// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.sluice.spark.ui.SluiceStatus.KnownExecutor;
import dev.sluice.spark.ui.SluiceStatus.Off;
import dev.sluice.spark.ui.SluiceStatus.Point;
import dev.sluice.spark.ui.SluiceUpdate.Bytes;
import dev.sluice.spark.ui.SluiceUpdate.Executor;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.status.ElementTrackingStore;
import org.apache.spark.status.KVUtils;
import org.apache.spark.util.kvstore.InMemoryStore;
import org.apache.spark.util.kvstore.KVStoreSerializer;
import org.junit.jupiter.api.Test;

class StatusListenerTest {
  private final InMemoryStore memory = new InMemoryStore();
  private final StatusListener live = StatusListener.live(memory);

  @Test
  void aLiveStoreHasTheLastState() {
    live.onOtherEvent(Updates.at(1, Updates.bytes(10)));
    live.onOtherEvent(Updates.application());
    SluiceStatus status = status();
    assertThat(status.bytes()).isEqualTo(Updates.application().bytes());
    assertThat(status.fallbacks()).isEqualTo(Updates.application().fallbacks());
    assertThat(status.slowPeers()).isEqualTo(Updates.application().slowPeers());
    assertThat(status.peerFallbacks()).isEqualTo(Updates.application().peerFallbacks());
    assertThat(status.executors())
        .extracting(KnownExecutor::executor)
        .isEqualTo(Updates.application().executors());
  }

  /** Otherwise a plot would show slow growth for the whole time in which nothing happened. */
  @Test
  void aPauseIsFlat() {
    live.onOtherEvent(Updates.at(1, Updates.bytes(10)));
    live.onOtherEvent(Updates.at(60, Updates.bytes(30)));
    assertThat(status().points())
        .containsExactly(
            new Point(Updates.START, Bytes.NONE),
            new Point(Updates.START + 1_000, Updates.bytes(10)),
            new Point(Updates.START + 59_000, Updates.bytes(10)),
            new Point(Updates.START + 60_000, Updates.bytes(30)));
  }

  @Test
  void aPauseStaysFlatAmongManyPoints() {
    IntStream.rangeClosed(1, 150).forEach(s -> live.onOtherEvent(Updates.at(s, Updates.bytes(s))));
    IntStream.rangeClosed(10_001, 20_000)
        .forEach(s -> live.onOtherEvent(Updates.at(s, Updates.bytes(s))));
    assertThat(status().points())
        .contains(
            new Point(Updates.START + 150_000, Updates.bytes(150)),
            new Point(Updates.START + 10_000_000, Updates.bytes(150)));
  }

  /** Spark's event log may have an update after the last one, which does not go by its queue. */
  @Test
  void anOlderUpdateDoesNotReplaceANewerOne() {
    live.onOtherEvent(Updates.application());
    live.onOtherEvent(Updates.at(30, Updates.bytes(10)));
    assertThat(status().bytes()).isEqualTo(Updates.application().bytes());
  }

  @Test
  void aLongApplicationHasPointsOfAllItsTime() {
    IntStream.rangeClosed(1, 10_001)
        .forEach(s -> live.onOtherEvent(Updates.at(s, Updates.bytes(s))));
    List<Point> points = status().points();
    assertThat(points).hasSizeBetween(StatusListener.MAX_POINTS / 2, StatusListener.MAX_POINTS);
    assertThat(points.getFirst().time()).isEqualTo(Updates.START);
    assertThat(points.getLast().bytes()).isEqualTo(Updates.bytes(10_001));
  }

  @Test
  void aLostExecutorStaysWithTheReason() {
    live.onOtherEvent(Updates.application());
    live.onExecutorRemoved(new SparkListenerExecutorRemoved(0, "2", "killed by <YARN>"));
    live.onExecutorRemoved(new SparkListenerExecutorRemoved(0, "99", "never seen"));
    live.onOtherEvent(Updates.at(91, Updates.application().bytes()));
    assertThat(status().executors())
        .extracting(KnownExecutor::lost)
        .containsExactly("", "", "", "", "killed by <YARN>");
    assertThat(status().lost()).isEqualTo(1);
  }

  /** The next update with rows may be minutes away. */
  @Test
  void aLossIsShownBeforeTheNextUpdate() {
    live.onOtherEvent(Updates.application());
    live.onExecutorRemoved(new SparkListenerExecutorRemoved(0, "2", "killed"));
    assertThat(status().executors()).last().extracting(KnownExecutor::lost).isEqualTo("killed");
  }

  /** Each write has the rows of all executors, and a thousand may be lost at once. */
  @Test
  void lossesAreWrittenOnceASecondAndTheRestWithTheDriversHeartbeat() {
    live.onOtherEvent(Updates.application());
    live.onExecutorRemoved(new SparkListenerExecutorRemoved(0, "0", "idle"));
    live.onExecutorRemoved(new SparkListenerExecutorRemoved(10, "1", "idle"));
    live.onExecutorRemoved(new SparkListenerExecutorRemoved(20, "2", "idle"));
    live.onExecutorMetricsUpdate(new SparkListenerExecutorMetricsUpdate("3", null, null));
    assertThat(status().lost()).isEqualTo(1);
    live.onExecutorMetricsUpdate(new SparkListenerExecutorMetricsUpdate("driver", null, null));
    assertThat(status().lost()).isEqualTo(3);
    live.onExecutorRemoved(new SparkListenerExecutorRemoved(1_000, "3", "idle"));
    assertThat(status().lost()).isEqualTo(4);
  }

  /** Spark's compaction of event logs drops the removals of executors, and keeps our rows. */
  @Test
  void theLastRowOfAnExecutorTellsThatItIsLost() {
    Executor row = Updates.executor(2);
    Executor last =
        new Executor(
            row.id(),
            true,
            row.place(),
            row.bytes(),
            row.fallbacks(),
            row.memory(),
            row.queuePairs(),
            row.reads());
    live.onOtherEvent(Updates.application());
    SluiceUpdate next = Updates.at(91, Updates.application().bytes());
    live.onOtherEvent(
        new SluiceUpdate(
            next.time(),
            next.unchangedUntil(),
            next.bytes(),
            List.of(),
            next.reads(),
            List.of(last),
            List.of(),
            List.of()));
    assertThat(status().executors()).last().extracting(KnownExecutor::lost).isEqualTo("removed");
  }

  /** The feed takes the last row of an executor after Spark has removed it. */
  @Test
  void anExecutorWhoseLastRowComesAfterItsLossIsLost() {
    live.onExecutorRemoved(new SparkListenerExecutorRemoved(0, "2", "preempted"));
    live.onOtherEvent(Updates.application());
    assertThat(status().executors())
        .extracting(KnownExecutor::lost)
        .containsExactly("", "", "preempted", "", "");
  }

  @Test
  void theOldestLossesAreForgotten() {
    SluiceUpdate template = Updates.at(1, Updates.bytes(1));
    live.onOtherEvent(
        new SluiceUpdate(
            template.time(),
            template.unchangedUntil(),
            template.bytes(),
            List.of(),
            template.reads(),
            IntStream.range(0, 1_000).mapToObj(Updates::executor).toList(),
            List.of(),
            List.of()));
    IntStream.range(0, 999)
        .forEach(
            id -> live.onExecutorRemoved(new SparkListenerExecutorRemoved(0, "" + id, "idle")));
    live.onOtherEvent(Updates.at(2, Updates.bytes(2))); // The later losses wait for it.
    assertThat(status().executors())
        .hasSize(StatusListener.MAX_LOST + 1)
        .first()
        .matches(KnownExecutor::lives);
    assertThat(status().executors().getLast().executor().id()).isEqualTo("998");
    assertThat(status().lost()).isEqualTo(999);

    // Their last rows come with a later update, also those of the losses that are not shown.
    live.onOtherEvent(
        new SluiceUpdate(
            Updates.START + 9_000,
            Updates.START + 8_000,
            template.bytes(),
            List.of(),
            template.reads(),
            IntStream.range(0, 999).mapToObj(Updates::gone).toList(),
            List.of(),
            List.of()));
    assertThat(status().executors()).hasSize(StatusListener.MAX_LOST + 1);
    assertThat(status().executors().getLast().executor().id()).isEqualTo("998");
    assertThat(status().lost()).isEqualTo(999);
  }

  @Test
  void aReplayWritesOnceAtTheFlush() throws Exception {
    ElementTrackingStore store = new ElementTrackingStore(memory, new SparkConf(false));
    StatusListener replaying = StatusListener.replaying(store);
    replaying.onOtherEvent(Updates.application());
    assertThat(SluiceStatus.of(memory)).isEmpty();
    store.close(false);
    assertThat(status().executors()).hasSize(5);
  }

  @Test
  void anApplicationWithTheStockShuffleHasTheReason() throws Exception {
    ElementTrackingStore store = new ElementTrackingStore(memory, new SparkConf(false));
    StatusListener replaying = StatusListener.replaying(store);
    replaying.onOtherEvent(new SluiceOff("too old", "some.key"));
    assertThat(Off.of(memory)).isEmpty();
    store.close(false);
    Off off = new Off("too old", "some.key");
    assertThat(Off.of(memory)).contains(off);
    assertThat(SluiceStatus.of(memory)).isEmpty();
    live.onOtherEvent(new SluiceOff("newer", ""));
    assertThat(Off.of(memory)).contains(new Off("newer", ""));
    KVStoreSerializer serializer = new KVUtils.KVStoreScalaSerializer();
    assertThat(serializer.deserialize(serializer.serialize(off), Off.class)).isEqualTo(off);
  }

  @Test
  void anApplicationWithoutSluiceHasNoStatus() {
    ElementTrackingStore store = new ElementTrackingStore(memory, new SparkConf(false));
    StatusListener replaying = StatusListener.replaying(store);
    replaying.onExecutorRemoved(new SparkListenerExecutorRemoved(0, "1", "idle"));
    store.close(false);
    assertThat(SluiceStatus.of(memory)).isEmpty();
    assertThat(Off.of(memory)).isEmpty();
  }

  /** A history server with {@code spark.history.store.path} keeps the status as JSON. */
  @Test
  void aDiskStoreKeepsAllOfIt() throws Exception {
    live.onOtherEvent(Updates.application());
    KVStoreSerializer serializer = new KVUtils.KVStoreScalaSerializer();
    assertThat(serializer.deserialize(serializer.serialize(status()), SluiceStatus.class))
        .isEqualTo(status());
  }

  /** The store may be of a version without the newest tables. */
  @Test
  void aDiskStoreOfAnOlderVersionIsRead() throws Exception {
    ByteArrayOutputStream stored = new ByteArrayOutputStream();
    try (OutputStream out = new GZIPOutputStream(stored)) {
      out.write("{\"points\":[],\"lost\":3}".getBytes(StandardCharsets.UTF_8));
    }
    SluiceStatus status =
        new KVUtils.KVStoreScalaSerializer().deserialize(stored.toByteArray(), SluiceStatus.class);
    assertThat(status.lost()).isEqualTo(3);
    assertThat(status.peerFallbacks()).isEmpty();
  }

  @Test
  void aDiskStoreOfAnOlderVersionIsShown() throws Exception {
    String json = "{\"points\":[{},{\"time\":5}],\"executors\":[{\"executor\":{\"id\":\"7\"}},{}]}";
    ByteArrayOutputStream stored = new ByteArrayOutputStream();
    try (OutputStream zipped = new GZIPOutputStream(stored)) {
      zipped.write(json.getBytes(StandardCharsets.UTF_8));
    }
    SluiceStatus status =
        new KVUtils.KVStoreScalaSerializer().deserialize(stored.toByteArray(), SluiceStatus.class);
    assertThat(StatusPage.of(status)).contains("<td>7</td>", "<td>live</td>", "2 by unknown");
  }

  @Test
  void sparkSeesNoFailure() {
    StatusListener broken = StatusListener.live(null);
    assertThatCode(() -> broken.onOtherEvent(Updates.application())).doesNotThrowAnyException();
    assertThatCode(() -> broken.onOtherEvent(Updates.application())).doesNotThrowAnyException();
  }

  private SluiceStatus status() {
    return SluiceStatus.of(memory).orElseThrow();
  }
}
