// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.transfer.LatencySnapshot;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Details;
import dev.sluice.spark.locate.DirectoryMessage.ExecutorReport;
import dev.sluice.spark.locate.DirectoryMessage.MemoryLimits;
import dev.sluice.spark.locate.DirectoryMessage.PeerFallbacks;
import dev.sluice.spark.locate.DirectoryMessage.PeerReads;
import dev.sluice.spark.locate.DirectoryMessage.ReadTimes;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.DirectoryMessage.Started;
import dev.sluice.spark.locate.GoneExecutors;
import dev.sluice.spark.ui.SluiceUpdate.Executor;
import dev.sluice.spark.ui.SluiceUpdate.PeerFallback;
import dev.sluice.spark.ui.SluiceUpdate.Place;
import dev.sluice.spark.ui.SluiceUpdate.Reads;
import dev.sluice.spark.ui.SluiceUpdate.SlowPeer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The driver's knowledge of each executor for the tab in Spark's UI, and of all READs' latencies
 * for the metrics. {@code DriverRuntime} makes it. The location directory's thread gives it
 * reports, the listener bus losses, and the feed's thread takes what has changed. Its lock guards
 * all fields. Costs some kilobytes for each executor that lives.
 */
public final class ExecutorStates {
  /**
   * Age at which an executor's times of a peer count no more, as measured from the newest ones that
   * another executor has of the peer.
   */
  static final long MAX_AGE_NANOS = TimeUnit.MINUTES.toNanos(3);

  /** Rows of lost executors that wait to be taken. After a failure of the feed nothing does. */
  private static final int MAX_LOST_ROWS = 1_000;

  /**
   * All reports of an executor. Immutable, so that rows are computed without the lock: the
   * directory's thread needs it for each report.
   *
   * @param started null until it has come; an executor of an older version sends only reports
   * @param report null until the first
   * @param times null until the first report of an executor that READs
   * @param timesNanos time at which they came
   * @param fallbacks null until the first report of them
   */
  private record State(
      String executorId,
      @Nullable Started started,
      @Nullable Report report,
      @Nullable ReadTimes times,
      long timesNanos,
      @Nullable PeerFallbacks fallbacks) {
    State(String executorId) {
      this(executorId, null, null, null, 0, null);
    }

    State with(ExecutorReport news, long nowNanos) {
      return switch (news) {
        case Started fresh -> new State(executorId, fresh, report, times, timesNanos, fallbacks);
        case Report fresh ->
            report == null || fresh.sequence() - report.sequence() > 0
                ? new State(executorId, started, fresh, times, timesNanos, fallbacks)
                : this;
        case Details fresh ->
            fresh.times().map(reads -> with(reads, nowNanos)).orElse(this).with(fresh.fallbacks());
      };
    }

    private State with(ReadTimes fresh, long nowNanos) {
      return times == null || fresh.sequence() > times.sequence()
          ? new State(executorId, started, report, fresh, nowNanos, fallbacks)
          : this;
    }

    private State with(PeerFallbacks fresh) {
      return fallbacks == null || fresh.sequence() > fallbacks.sequence()
          ? new State(executorId, started, report, times, timesNanos, fresh)
          : this;
    }

    Map<String, Long> counters() {
      return report == null ? Map.of() : report.counters();
    }

    LatencySnapshot latencies() {
      return LatencySnapshot.of(times == null ? List.of() : times.requests());
    }

    List<PeerReads> slowest() {
      return times == null ? List.of() : times.slowest();
    }

    Place place() {
      Started known = started;
      if (known != null) {
        return new Place(
            known.provider(), known.device(), known.gid(), known.address(), known.reason());
      }
      String[] device = report == null ? new String[] {""} : report.device().split(" ", 2);
      return new Place(
          device[0].isEmpty() ? "unknown" : device[0],
          device.length > 1 ? device[1] : "",
          "",
          "",
          "");
    }

    /**
     * @param gone true for the last row of an executor that is gone
     */
    Executor row(boolean gone) {
      return new Executor(
          executorId,
          gone,
          place(),
          UpdateRecords.bytes(counters()),
          UpdateRecords.fallbacks(counters()),
          UpdateRecords.memory(counters(), started == null ? MemoryLimits.NONE : started.limits()),
          UpdateRecords.queuePairs(counters()),
          UpdateRecords.reads(latencies()));
    }
  }

  private final LongSupplier nanoClock;
  private final Map<String, State> states = new LinkedHashMap<>();
  private final GoneExecutors gone = new GoneExecutors();

  /** Latencies of the READs of executors that are gone. */
  private LatencySnapshot goneLatencies = LatencySnapshot.of(List.of());

  /** Fallbacks of executors that are gone. */
  private final FallbacksByPeer goneFallbacks = new FallbacksByPeer();

  /** Last states of executors that are gone, until they are taken. */
  private final List<State> lost = new ArrayList<>();

  /** Ids of executors that live and have changed since they were taken. */
  private final Set<String> changed = new LinkedHashSet<>();

  public ExecutorStates() {
    this(System::nanoTime);
  }

  ExecutorStates(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** Takes an executor's report. One of an executor that is gone is too late. */
  public synchronized void accept(ExecutorReport report) {
    String id = report.executorId();
    if (!gone.contains(id)) {
      State state = states.getOrDefault(id, new State(id));
      states.put(id, state.with(report, nanoClock.getAsLong()));
      changed.add(id);
    }
  }

  /** Notes that an executor is gone for good. Its last row is taken once more. */
  public synchronized void executorLost(String executorId) {
    gone.add(executorId);
    changed.remove(executorId);
    State state = states.remove(executorId);
    if (state != null) {
      goneLatencies = goneLatencies.plus(state.latencies());
      PeerFallbacks fallbacks = state.fallbacks();
      if (fallbacks != null) {
        goneFallbacks.add(fallbacks);
      }
      if (lost.size() < MAX_LOST_ROWS) {
        lost.add(state);
      }
    }
  }

  /** Returns the executors that have changed since the last call, lost ones first. */
  public List<Executor> takeChanged() {
    return rows(take(false));
  }

  /** Returns all executors that live, after those that were lost since the last call. */
  public List<Executor> takeAll() {
    return rows(take(true));
  }

  private record Taken(List<State> lost, List<State> living) {}

  private synchronized Taken take(boolean all) {
    List<State> living =
        all
            ? List.copyOf(states.values())
            : changed.stream().map(id -> requireNonNull(states.get(id))).toList();
    Taken taken = new Taken(List.copyOf(lost), living);
    lost.clear();
    changed.clear();
    return taken;
  }

  private static List<Executor> rows(Taken taken) {
    return Stream.concat(
            taken.lost().stream().map(state -> state.row(true)),
            taken.living().stream().map(state -> state.row(false)))
        .toList();
  }

  /** Returns the number of executors that live. */
  public synchronized int count() {
    return states.size();
  }

  /** Returns the devices of the executors that live, by executor. */
  public Map<String, Place> places() {
    Map<String, Place> places = new LinkedHashMap<>();
    for (State state : all()) {
      if (state.started() != null) {
        places.put(state.executorId(), state.place());
      }
    }
    return places;
  }

  /** Returns the times of all READ requests. */
  public Reads reads() {
    return UpdateRecords.reads(latencies());
  }

  /**
   * Returns the latencies of all READs. Their number never falls, as both parts are taken at once.
   */
  public LatencySnapshot latencies() {
    LatencySnapshot sum;
    List<State> living;
    synchronized (this) {
      sum = goneLatencies;
      living = all();
    }
    for (State state : living) {
      sum = sum.plus(state.latencies());
    }
    return sum;
  }

  private synchronized List<State> all() {
    return List.copyOf(states.values());
  }

  private synchronized boolean isGone(PeerAddress peer) {
    return gone.contains(peer.id());
  }

  /** READs of an executor from a peer, and the time at which it reported them. */
  private record Reported(PeerReads reads, long nanos) {}

  /**
   * Returns the slowest peers of all executors, by the median of their recent medians. Peers that
   * are gone are left out, and those with few READs come last.
   */
  public List<SlowPeer> slowPeers() {
    return recentPeers()
        .sorted(
            Comparator.comparing((SlowPeer peer) -> peer.reads().count() >= RecentReads.MIN_READS)
                .thenComparingLong(peer -> peer.reads().p50Micros())
                .thenComparingLong(peer -> peer.reads().p99Micros())
                .reversed())
        .limit(ReadTimesReporter.SLOWEST)
        .toList();
  }

  /**
   * Returns the median of the recent medians of all peers that executors report, in microseconds;
   * the lower one of two, 0 without peers.
   */
  public long recentP50Micros() {
    long[] medians = recentPeers().mapToLong(peer -> peer.reads().p50Micros()).sorted().toArray();
    return medians.length == 0 ? 0 : medians[(medians.length - 1) / 2];
  }

  private Stream<SlowPeer> recentPeers() {
    Map<String, List<Reported>> byPeer = new TreeMap<>();
    for (State state : all()) {
      for (PeerReads reads : state.slowest()) {
        if (isGone(reads.peer())) {
          continue;
        }
        byPeer
            .computeIfAbsent(PeerName.of(reads.peer()), _ -> new ArrayList<>())
            .add(new Reported(reads, state.timesNanos()));
      }
    }
    return byPeer.entrySet().stream()
        .map(entry -> slowPeer(entry.getKey(), newest(entry.getValue())));
  }

  /**
   * Returns the pairs of peer and reason with the most blocks that fell back, of all executors, and
   * the sum of all other blocks. These have some blocks of the pairs, too: each executor reports
   * its own largest pairs alone.
   */
  public List<PeerFallback> peerFallbacks() {
    FallbacksByPeer sum = new FallbacksByPeer();
    List<State> living;
    synchronized (this) {
      sum.add(goneFallbacks.largest(FallbacksByPeer.MAX_PAIRS));
      living = all();
    }
    for (State state : living) {
      PeerFallbacks fallbacks = state.fallbacks();
      if (fallbacks != null) {
        sum.add(fallbacks);
      }
    }
    return UpdateRecords.peerFallbacks(sum.largest(FallbacksByPeer.MAX_REPORTED / 2));
  }

  /** Returns the READs without those of executors that have not READ lately. */
  private static List<PeerReads> newest(List<Reported> ofReaders) {
    long newestNanos = ofReaders.getFirst().nanos();
    for (Reported reported : ofReaders) {
      newestNanos = reported.nanos() - newestNanos > 0 ? reported.nanos() : newestNanos;
    }
    long end = newestNanos;
    return ofReaders.stream()
        .filter(reported -> end - reported.nanos() <= MAX_AGE_NANOS)
        .map(Reported::reads)
        .toList();
  }

  private static SlowPeer slowPeer(String name, List<PeerReads> ofReaders) {
    long[] medians = ofReaders.stream().mapToLong(PeerReads::p50Micros).sorted().toArray();
    return new SlowPeer(
        name,
        ofReaders.size(),
        ofReaders.stream().mapToLong(PeerReads::bytes).sum(),
        new Reads(
            ofReaders.stream().mapToLong(PeerReads::requests).sum(),
            medians[medians.length / 2],
            ofReaders.stream().mapToLong(PeerReads::p99Micros).max().orElse(0)));
  }
}
