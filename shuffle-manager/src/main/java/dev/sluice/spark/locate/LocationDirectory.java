// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.NodeId;
import dev.sluice.doctor.Platform;
import dev.sluice.rdma.RateLimitedLog;
import dev.sluice.rdma.TaskFailures;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Details;
import dev.sluice.spark.locate.DirectoryMessage.ExecutorReport;
import dev.sluice.spark.locate.DirectoryMessage.Failure;
import dev.sluice.spark.locate.DirectoryMessage.Find;
import dev.sluice.spark.locate.DirectoryMessage.Found;
import dev.sluice.spark.locate.DirectoryMessage.Kept;
import dev.sluice.spark.locate.DirectoryMessage.LiveExecutors;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.OtherVersion;
import dev.sluice.spark.locate.DirectoryMessage.Over;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.DirectoryMessage.Silent;
import dev.sluice.spark.locate.DirectoryMessage.Started;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's table of locations of map outputs, by shuffle. {@code DriverRuntime} makes it with
 * the first shuffle. {@link DirectoryEndpoint} passes the executors' messages on a thread of its
 * own. Spark's listener bus reports lost executors, and threads of the driver's block manager
 * report shuffles that are over. {@code NodeLifetimes} asks for node daemons, and reports lost and
 * restarted ones. There is nothing to close: broadcasts end with their shuffles, and with the
 * application.
 *
 * <p>The lock guards all tables; private methods that use them need it, or take it. Nothing blocks
 * while it is held: broadcasts are made and destroyed without it, and only askers that need one
 * wait. The given {@code registered} and {@code reports} are called with it.
 *
 * <p>It costs a dozen bytes a map output, whatever the number of partitions, and some hundred bytes
 * an executor. Tables are logs: an executor says how much of a log it knows and gets the rest.
 * Therefore 1,000 executors that follow 100,000 maps cost the driver only copies of byte ranges. A
 * large range goes by broadcast, made once and cached, as Spark ships map statuses. If the
 * broadcast fails or is late, the answer comes without it.
 *
 * <p>MapStatus decides where a block is; the directory only adds keys. A wrong or missing record
 * costs a question to the peer.
 */
public final class LocationDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(LocationDirectory.class);

  /** Largest {@code minBroadcastBytes}, so that smaller answers certainly fit a message. */
  private static final long MAX_DIRECT_BYTES = MessageCodec.MAX_FRAME_BYTES / 2;

  /**
   * Maximum bytes of records in an answer without its broadcast, some 170,000 records. Each of
   * 1,000 executors gets such an answer.
   */
  private static final int MAX_BYTES_FOR_BROADCAST = 1 << 20;

  /** Number of messages about executors to remember, so as not to repeat them. */
  private static final int MAX_LOGGED = 10_000;

  private static final Duration QUIET = Duration.ofMinutes(10);

  /**
   * Settings for broadcasts.
   *
   * @param shipper makes broadcasts, which may block; those of one shuffle follow each other
   * @param timeoutMs how long an answer waits for a broadcast
   */
  public record Shipping(Broadcasts broadcasts, Executor shipper, long timeoutMs) {}

  private final Shipping shipping;
  private final int minBroadcastBytes;
  private final IntPredicate registered;
  private final Consumer<? super ExecutorReport> reports;
  private final Map<Integer, PublishedShuffle> shuffles = new HashMap<>();
  private final ExecutorTable executors = new ExecutorTable();
  private final GoneExecutors gone = new GoneExecutors();
  private final RateLimitedLog failures = new RateLimitedLog(QUIET, MAX_LOGGED);
  private final KeptTable kept = new KeptTable();
  private final OtherVersions otherVersions = new OtherVersions(Platform.version().orElse(""));

  /** Executors that the log already names as keeping map outputs. */
  private final RateLimitedLog keepers = new RateLimitedLog(QUIET, MAX_LOGGED);

  /** Obsolete broadcasts. Destroying them blocks, so it waits until the lock is free. */
  private final Queue<Broadcasts.Shipped> obsolete = new ConcurrentLinkedQueue<>();

  /** Number of the last generation, of all shuffles together; 0 means none in a message. */
  private long generations;

  /**
   * @param minBroadcastBytes records go by broadcast from this size on
   * @param registered tells whether Spark's map output tracker knows the shuffle; otherwise its map
   *     outputs cannot be read
   * @param reports takes the executors' reports of themselves
   */
  public LocationDirectory(
      Shipping shipping,
      long minBroadcastBytes,
      IntPredicate registered,
      Consumer<? super ExecutorReport> reports) {
    this.shipping = shipping;
    this.minBroadcastBytes = (int) Math.clamp(minBroadcastBytes, 1, MAX_DIRECT_BYTES);
    this.registered = registered;
    this.reports = reports;
  }

  /**
   * Answers one message. Does not block.
   *
   * @return completes at once, unless the answer waits for a broadcast
   * @throws IOException for a message that is not a question
   */
  public CompletableFuture<DirectoryMessage> handle(DirectoryMessage message) throws IOException {
    CompletableFuture<DirectoryMessage> answer =
        message instanceof Locate locate
            ? locate(locate)
            : CompletableFuture.completedFuture(answer(message));
    destroyObsolete();
    return answer;
  }

  private synchronized DirectoryMessage answer(DirectoryMessage message) throws IOException {
    return switch (message) {
      case Publish publish -> publish(publish);
      case Report report -> {
        reports.accept(report);
        yield new Over(
            report.shuffles().stream().filter(shuffle -> !registered.test(shuffle)).toList());
      }
      case Started started -> {
        reports.accept(started);
        yield new Ack();
      }
      case Details details -> {
        reports.accept(details);
        yield new Ack();
      }
      case Failure failure -> failed(failure);
      case Kept output -> keep(output);
      case OtherVersion(String executorId, String version) -> {
        if (!gone.contains(executorId)) {
          otherVersions.found("Executor " + executorId, version);
        }
        yield new Ack();
      }
      case Find find ->
          new Found(
              gone.contains(find.executorId()),
              executors.node(find.executorId()).map(ExecutorEndpoint::peer));
      case Locate _, Ack _, Over _, Table _, Found _, Silent _ ->
          throw new IOException(
              "not a question to the location directory: " + message.getClass().getSimpleName());
    };
  }

  private Ack publish(Publish publish) {
    ExecutorEndpoint endpoint = publish.endpoint();
    if (gone.contains(endpoint.executorId()) && !endpoint.outlivesExecutor()) {
      return new Ack();
    }
    int executor = known(endpoint);
    for (Published output : publish.outputs()) {
      if (output.location() == null) {
        shuffles.computeIfPresent(output.shuffleId(), (_, shuffle) -> without(executor, shuffle));
      } else if (registered.test(output.shuffleId())) {
        shuffles
            .computeIfAbsent(output.shuffleId(), _ -> newGeneration(new LocationLog()))
            .log()
            .append(executor, output.location());
      }
    }
    return new Ack();
  }

  private PublishedShuffle newGeneration(LocationLog log) {
    int maxDirectBytes = Math.max(minBroadcastBytes, MAX_BYTES_FOR_BROADCAST);
    return new PublishedShuffle(++generations, log, minBroadcastBytes, maxDirectBytes);
  }

  /** Returns the shuffle without the executor's map outputs. */
  private PublishedShuffle without(int executor, PublishedShuffle shuffle) {
    if (!shuffle.log().remove(executor)) {
      return shuffle;
    }
    obsolete.addAll(shuffle.shipped());
    return newGeneration(shuffle.log());
  }

  private int known(ExecutorEndpoint endpoint) {
    if (executors.number(endpoint) == ExecutorTable.NONE) {
      arrived(endpoint);
    }
    return executors.number(endpoint);
  }

  private void arrived(ExecutorEndpoint endpoint) {
    boolean serves = true;
    if (endpoint.outlivesExecutor()) {
      // The daemon was restarted, maybe at another port. Lost executors cannot report that, so this
      // moves their entries as well. If the daemon has lost its map outputs, NodeLifetimes finds
      // that out.
      executors
          .node(endpoint.executorId())
          .filter(node -> since(node.peer()).equals(since(endpoint.peer())))
          .ifPresent(node -> executors.replace(node.peer(), endpoint.peer(), endpoint.provider()));
      serves = executors.addNode(endpoint);
    }
    if (serves && executors.number(endpoint) == ExecutorTable.NONE) {
      forget(endpoint.executorId());
      executors.add(endpoint);
    }
  }

  private static String since(PeerAddress node) {
    return NodeId.parse(node.id()).since();
  }

  private CompletableFuture<DirectoryMessage> locate(Locate locate) throws IOException {
    CompletableFuture<Void> broadcast = broadcast(locate);
    return broadcast.isDone()
        ? CompletableFuture.completedFuture(table(locate))
        : broadcast
            .copy()
            .completeOnTimeout(null, shipping.timeoutMs(), TimeUnit.MILLISECONDS)
            .thenApply(_ -> table(locate));
  }

  private synchronized CompletableFuture<Void> broadcast(Locate locate) throws IOException {
    PublishedShuffle shuffle = shuffles.get(locate.shuffleId());
    return shuffle == null
        ? CompletableFuture.completedFuture(null)
        : shuffle.broadcast(locate, records -> ship(locate.shuffleId(), shuffle, records));
  }

  private synchronized Table table(Locate locate) {
    LiveExecutors news = executors.since(locate.executors());
    PublishedShuffle shuffle = shuffles.get(locate.shuffleId());
    return shuffle == null
        ? new Table(0, new byte[0], new byte[0], news)
        : shuffle.table(locate, news);
  }

  private CompletableFuture<Void> ship(int shuffleId, PublishedShuffle shuffle, byte[] records) {
    return CompletableFuture.runAsync(
            () -> shipNow(shuffleId, shuffle, records), shipping.shipper())
        .exceptionally(
            failure -> {
              LOG.warn(
                  "Broadcasting {} bytes of locations of shuffle {} failed; executors get as many"
                      + " as fit a message, and ask each other for the rest",
                  records.length,
                  shuffleId,
                  failure);
              return null;
            });
  }

  private void shipNow(int shuffleId, PublishedShuffle shuffle, byte[] records) {
    Broadcasts.Shipped made;
    try {
      made = shipping.broadcasts().ship(records);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    synchronized (this) {
      if (shuffles.get(shuffleId) == shuffle) {
        shuffle.published(made, records.length);
      } else {
        obsolete.add(made); // Some of its records were withdrawn, or the shuffle is over.
      }
    }
    destroyObsolete();
  }

  private Ack keep(Kept output) {
    boolean isGone = gone.contains(output.executorId());
    if (registered.test(output.shuffleId())) {
      kept.add(output, isGone);
    }
    if (!isGone) {
      output.server().ifPresent(this::known);
    }
    if (keepers.add(output.executorId(), System.nanoTime()) > 0) {
      LOG.warn(
          "Map outputs stay with executor {}, because its node daemon does not take them; Spark"
              + " writes them again if the executor ends (logged at most every 10 minutes for"
              + " each executor; spark.shuffle.rdma.node): {}",
          output.executorId(),
          output.reason());
    }
    return new Ack();
  }

  /** Returns the kept map outputs of lost executors, as map ids by shuffle and executor. */
  public synchronized Map<String, Map<Integer, Set<Long>>> keptByGone() {
    return kept.ofGone();
  }

  /** Forgets kept map outputs of lost executors, which are registered nowhere any more. */
  public synchronized void forgetKept(Collection<String> executorIds) {
    kept.removeAll(executorIds);
  }

  private Ack failed(Failure failure) {
    if (failures.add(failure.reason(), System.nanoTime()) > 0) {
      LOG.error(
          "Executor {} cannot run the shuffle as configured (the same reason is logged at most"
              + " every 10 minutes for all executors): {}",
          failure.executorId(),
          failure.reason());
    }
    return new Ack();
  }

  /** Removes an executor that is lost for good, with all that it published and its node lacks. */
  public void executorLost(String executorId) {
    remove(executorId);
    otherVersions.ended("Executor " + executorId);
    destroyObsolete();
  }

  private synchronized void remove(String executorId) {
    gone.add(executorId);
    kept.executorLost(executorId);
    Optional<ExecutorEndpoint> node = executors.node(executorId);
    if (node.isEmpty() || executors.number(node.get()) == ExecutorTable.NONE) {
      forget(executorId);
      node.ifPresent(executors::add);
    }
  }

  private void forget(String executorId) {
    int number = executors.remove(executorId);
    if (number != ExecutorTable.NONE) {
      shuffles.replaceAll((_, shuffle) -> without(number, shuffle));
    }
  }

  /**
   * Removes a shuffle whose files are deleted. Its id may come back: later locations begin a table
   * of a new generation, if Spark knows the shuffle. A task that commits too late may publish
   * before Spark forgets the shuffle, so this also removes other shuffles that Spark has forgotten.
   */
  public void unregister(int shuffleId) {
    remove(shuffleId);
    destroyObsolete();
  }

  private synchronized void remove(int shuffleId) {
    kept.remove(shuffleId);
    shuffles
        .entrySet()
        .removeIf(
            shuffle -> {
              boolean over = shuffle.getKey() == shuffleId || !registered.test(shuffle.getKey());
              if (over) {
                obsolete.addAll(shuffle.getValue().shipped());
              }
              return over;
            });
  }

  /** Called with no lock held. */
  private void destroyObsolete() {
    for (Broadcasts.Shipped next = obsolete.poll(); next != null; next = obsolete.poll()) {
      try {
        next.destroy().run();
      } catch (Throwable e) { // Errors too: the next one must go, and no answer may fail.
        TaskFailures.log(LOG, "Destroying a broadcast of shuffle locations failed", e);
      }
    }
  }

  /** Returns the executors and node daemons of other versions. */
  public OtherVersions otherVersions() {
    return otherVersions;
  }

  /** Returns the node daemons that have map outputs. */
  public synchronized Set<PeerAddress> nodes() {
    return executors.nodeProviders().keySet();
  }

  /** Returns the providers of the node daemons that have map outputs. */
  public synchronized Map<PeerAddress, String> nodeProviders() {
    return executors.nodeProviders();
  }

  /**
   * Records the new id of a node daemon that was restarted.
   *
   * @param node its former address and id
   */
  public synchronized void nodeIsNow(PeerAddress node, String id) {
    PeerAddress now = new PeerAddress(id, node.host(), node.port());
    executors.at(node).stream()
        .findAny()
        .ifPresent(before -> executors.replace(node, now, before.provider()));
  }

  /**
   * Handles a node daemon that does not answer any more. The map outputs there of lost executors
   * are lost, and no reader looks for them there again.
   *
   * @return ids of these executors
   */
  public synchronized List<String> nodeLost(PeerAddress node) {
    List<String> lost =
        executors.at(node).stream()
            .map(ExecutorEndpoint::executorId)
            .filter(gone::contains)
            .toList();
    forgetAtNodes(lost);
    return lost;
  }

  /** Returns the lost executors whose map outputs are at nodes. */
  public synchronized Set<String> goneAtNodes() {
    return executors.atNodes().stream().filter(gone::contains).collect(Collectors.toSet());
  }

  /** Forgets map outputs of lost executors at nodes, since no reader asks for them any more. */
  public synchronized void forgetAtNodes(Collection<String> executorIds) {
    executorIds.forEach(executors::removeNode);
    executorIds.forEach(executors::remove);
  }

  /** Returns the number of shuffles with published locations. */
  synchronized int shuffles() {
    return shuffles.size();
  }
}
