// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.client.CircuitOpenException;
import dev.sluice.blocks.client.LateAnswerException;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.mapreduce.HttpReason;
import dev.sluice.mapreduce.NodeReadException;
import dev.sluice.mapreduce.RemotePartition;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A host with map outputs, and the job's block server there. {@link JobReader} makes one for each
 * host. Fetchers' threads wait for the host here, one at a time.
 */
final class JobNode {
  /** A reader's only shuffle of a job. */
  static final int SHUFFLE = 0;

  /** Raw lengths of this size or more are not told. */
  private static final long UNKNOWN_RAW_BYTES = 0xFFFF_FFFFL;

  /** Longest time for which a node whose daemon did not answer is not asked again. */
  private static final long MAX_RETRY_MS = TimeUnit.MINUTES.toMillis(10);

  /** Time in which a daemon answers that is not busy. */
  private static final long BRIEF_MS = 300;

  /**
   * A node answers so late only if it is still registering map outputs. It may yet get those that
   * it does not have then.
   */
  private static final long LATE_NANOS =
      TimeUnit.MILLISECONDS.toNanos(RegistryLimits.RESOLVE_MS * 3 / 4);

  private final String job;
  private final String host;
  private final BlockServerClient servers;
  private final RdmaEndpoint endpoint;
  private final ReaderSettings settings;
  private final SilentNodes silentNodes;
  private final LongSupplier nanoClock;

  /** A search for the daemon that goes on without a waiting thread; guarded by this. */
  private @Nullable CompletableFuture<Registered> search;

  /** Null while it is not known; guarded by this, as the next three fields are. */
  private @Nullable PeerAddress server;

  /** Why it is not known; null if it has not been asked for. */
  private @Nullable NodeReadException failure;

  private long failedNanos;

  /** Failed searches since the last one that found the daemon. */
  private int failures;

  /**
   * @param nanoClock as {@link System#nanoTime}
   */
  JobNode(
      String job,
      String host,
      BlockServerClient servers,
      RdmaEndpoint endpoint,
      ReaderSettings settings,
      SilentNodes silentNodes,
      LongSupplier nanoClock) {
    this.job = job;
    this.host = host;
    this.servers = servers;
    this.endpoint = endpoint;
    this.settings = settings;
    this.silentNodes = silentNodes;
    this.nanoClock = nanoClock;
  }

  /**
   * Locates one partition of each map output. The node is asked first for those that it has
   * registered for a reader before. It is asked to register the others. A map output that the node
   * did not register in time fails with {@link HttpReason#STAGING}: its disks may be busy with the
   * others. If a block server that is known does not answer, the daemon may have been started
   * again: then it is looked for once more.
   */
  synchronized List<RemotePartition> locate(long[] mapIds, int partition)
      throws NodeReadException, InterruptedException {
    boolean wasKnown = server != null;
    try {
      return locateAll(server(), mapIds, partition);
    } catch (NodeReadException e) {
      if (!wasKnown || server != null) {
        throw e;
      }
      return locateAll(server(), mapIds, partition);
    }
  }

  private List<RemotePartition> locateAll(PeerAddress peer, long[] mapIds, int partition)
      throws NodeReadException, InterruptedException {
    List<RemotePartition> located = new ArrayList<>(mapIds.length);
    for (int from = 0; from < mapIds.length; from += ControlMessages.MAX_RESOLVE) {
      int to = Math.min(mapIds.length, from + ControlMessages.MAX_RESOLVE);
      located.addAll(locate(peer, Arrays.copyOfRange(mapIds, from, to), partition));
    }
    return located;
  }

  /**
   * Returns the job's block server. It is asked for at most once in an interval, which doubles with
   * each failure.
   */
  private PeerAddress server() throws NodeReadException, InterruptedException {
    if (server != null) {
      return server;
    }
    if (failure != null && nanoClock.getAsLong() - failedNanos < retryNanos()) {
      throw failure;
    }
    try {
      failure = null;
      server = find();
      failures = 0;
      return server;
    } catch (NodeReadException e) {
      failure = e;
      failures++;
      failedNanos = nanoClock.getAsLong();
      throw e;
    }
  }

  private long retryNanos() {
    long firstMs = settings.get(ReaderSettings.RETRY_MS);
    long ms = Math.max(firstMs, Math.min(MAX_RETRY_MS, firstMs << Math.min(failures - 1, 10)));
    return TimeUnit.MILLISECONDS.toNanos(ms);
  }

  /** Has {@link #locate} wait for a search for the daemon that has begun. Does not wait itself. */
  synchronized void await(CompletableFuture<Registered> begun) {
    search = begun;
  }

  /** Returns a host's port for all jobs, where the daemon tells the job's block server. */
  static PeerAddress jobPort(String host, ReaderSettings settings) {
    return new PeerAddress("jobs", host, settings.get(ReaderSettings.PORT));
  }

  private PeerAddress find() throws NodeReadException, InterruptedException {
    PeerAddress jobPort = jobPort(host, settings);
    Registered found = found(jobPort);
    String provider = endpoint.device().providerName();
    if (!found.provider().equals(provider)) {
      servers.peerLost(jobPort); // Its connection is of no use.
      throw new NodeReadException(
          HttpReason.PEER,
          "the node daemon at %s has provider %s, this task %s (sluice.mapreduce.provider)"
              .formatted(host, found.provider(), provider),
          null);
    }
    PeerAddress peer = new PeerAddress(found.nodeId(), jobPort.host(), jobPort.port());
    servers.rename(jobPort, peer);
    endpoint.connect(peer); // while the node is asked for map outputs
    return peer;
  }

  /**
   * Waits for the answer of the daemon, but only briefly if several nodes were silent: then map
   * outputs come by HTTP meanwhile, and the answer is looked at when the node is asked again.
   */
  private Registered found(PeerAddress jobPort) throws NodeReadException, InterruptedException {
    long startNanos = nanoClock.getAsLong();
    CompletableFuture<Registered> asked = search == null ? servers.findJob(jobPort, job) : search;
    search = null;
    if (silentNodes.areMany() && !isDoneSoon(asked)) {
      search = asked;
      throw new NodeReadException(
          HttpReason.PEER, silentNodes + "; the one at " + host + " is still being asked", null);
    }
    try {
      Registered found = answer(asked, "find the job's block server", HttpReason.PEER);
      silentNodes.found();
      return found;
    } catch (NodeReadException e) {
      servers.peerLost(jobPort); // Its connection is of no use.
      if (failures == 0) {
        silentNodes.failed(nanoClock.getAsLong() - startNanos);
      }
      throw e;
    }
  }

  private static boolean isDoneSoon(CompletableFuture<?> asked) throws InterruptedException {
    try {
      asked.get(BRIEF_MS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      return true;
    } catch (TimeoutException e) {
      return false;
    }
    return true;
  }

  /** Forgets the block server after a failure: the daemon may have been started again. */
  private void forget(PeerAddress peer) {
    server = null;
    endpoint.peerLost(peer.id());
    servers.peerLost(peer);
  }

  private List<RemotePartition> locate(PeerAddress peer, long[] mapIds, int partition)
      throws NodeReadException, InterruptedException {
    try {
      List<RemotePartition> located = located(peer, mapIds, partition);
      long[] others =
          located.stream()
              .filter(each -> !isRegistered(each))
              .mapToLong(RemotePartition::mapId)
              .toArray();
      Iterator<RemotePartition> resolved =
          others.length == 0
              ? Collections.emptyIterator()
              : resolved(peer, others, partition).iterator();
      located.replaceAll(each -> isRegistered(each) ? each : resolved.next());
      return located;
    } catch (NodeReadException e) {
      // A late disk says nothing about the daemon, and its breaker has to stay.
      if (e.reason() != HttpReason.STAGING && e.reason() != HttpReason.CIRCUIT_OPEN) {
        forget(peer);
      }
      throw e;
    }
  }

  private static boolean isRegistered(RemotePartition partition) {
    return partition instanceof NodePartition known && !known.isStaged();
  }

  /** Has the node register map outputs, as far as its limits allow, and locates them. */
  private List<RemotePartition> resolved(PeerAddress peer, long[] mapIds, int partition)
      throws NodeReadException, InterruptedException {
    long startNanos = nanoClock.getAsLong();
    List<@Nullable MapOutputLocation> there =
        answer(servers.resolve(peer, SHUFFLE, mapIds), "locate map outputs", HttpReason.PEER);
    boolean isLate = nanoClock.getAsLong() - startNanos >= LATE_NANOS;
    long[] found =
        IntStream.range(0, mapIds.length)
            .filter(i -> there.get(i) != null)
            .mapToLong(i -> mapIds[i])
            .toArray();
    Iterator<RemotePartition> located = located(peer, found, partition).iterator();
    List<RemotePartition> all = new ArrayList<>();
    for (int i = 0; i < mapIds.length; i++) {
      all.add(
          there.get(i) == null
              ? new RemotePartition(
                  mapIds[i], isLate ? HttpReason.STAGING : HttpReason.NOT_REGISTERED)
              : located.next());
    }
    return all;
  }

  /** Locates map outputs by the tables that the node has now. */
  private List<RemotePartition> located(PeerAddress peer, long[] mapIds, int partition)
      throws NodeReadException, InterruptedException {
    List<RemotePartition> located = new ArrayList<>();
    if (mapIds.length > 0) {
      List<Partitions> wanted = new ArrayList<>();
      for (long mapId : mapIds) {
        wanted.add(new Partitions(mapId, partition, partition + 1));
      }
      List<long[]> tables = tables(peer, wanted);
      for (int i = 0; i < mapIds.length; i++) {
        located.add(located(peer, mapIds[i], tables.get(i)));
      }
    }
    return located;
  }

  /** Asks for the tables alone: nothing is copied. */
  private List<long[]> tables(PeerAddress peer, List<Partitions> wanted)
      throws NodeReadException, InterruptedException {
    int timeoutMs = Math.toIntExact(settings.get(ReaderSettings.TIMEOUT_MS));
    Object answer =
        answer(
            servers.stage(peer, new Stage(SHUFFLE, timeoutMs, wanted, 0, 0)),
            "send tables",
            HttpReason.STAGING);
    // Not a switch: one over types is linked at run time, which delays the first READ.
    if (answer instanceof Staged staged && staged.tables().size() == wanted.size()) {
      return staged.tables();
    }
    if (answer instanceof NotStaged not) {
      throw new NodeReadException(
          not.stale() ? HttpReason.STALE_LOCATION : HttpReason.STAGING, not.reason(), null);
    }
    throw new NodeReadException(
        HttpReason.STAGING, peer + " answers with another number of tables", null);
  }

  private static RemotePartition located(PeerAddress peer, long mapId, long[] table) {
    if (!Staged.isTable(table)) {
      return new RemotePartition(
          mapId,
          table.length == Staged.STALE.length ? HttpReason.NOT_REGISTERED : HttpReason.STAGING);
    }
    MapOutputHeader header = MapOutputHeader.of(mapId, table, 0);
    if (header == null || table.length != MapOutputHeader.LONGS + TableEntry.LONGS) {
      return new RemotePartition(mapId, HttpReason.STALE_LOCATION);
    }
    long first = table[MapOutputHeader.LONGS];
    long second = table[MapOutputHeader.LONGS + 1];
    long offset = TableEntry.offset(first);
    long bytes = TableEntry.length(first, second);
    long rawBytes = TableEntry.checksum(second);
    if (bytes > header.data().length() - offset) {
      return new RemotePartition(mapId, HttpReason.STALE_LOCATION);
    }
    return rawBytes == UNKNOWN_RAW_BYTES
        ? new RemotePartition(mapId, HttpReason.SIZE)
        : new NodePartition(peer, header, offset, bytes, rawBytes);
  }

  /**
   * Waits for an answer of the daemon.
   *
   * @param late reason if it does not come in time
   */
  private <T> T answer(CompletableFuture<T> asked, String what, HttpReason late)
      throws NodeReadException, InterruptedException {
    try {
      // The client answers each request within its time; this limit is for a defect there.
      return asked.get(2 * settings.get(ReaderSettings.TIMEOUT_MS), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      HttpReason reason =
          switch (cause) {
            case CircuitOpenException _ -> HttpReason.CIRCUIT_OPEN;
            case LateAnswerException _ -> late;
            default -> HttpReason.PEER;
          };
      throw new NodeReadException(
          reason,
          "the node daemon at %s did not %s: %s".formatted(host, what, cause.getMessage()),
          cause);
    }
  }
}
