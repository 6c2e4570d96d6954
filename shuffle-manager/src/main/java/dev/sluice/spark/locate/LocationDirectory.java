package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.NodeId;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Failure;
import dev.sluice.spark.locate.DirectoryMessage.Find;
import dev.sluice.spark.locate.DirectoryMessage.Found;
import dev.sluice.spark.locate.DirectoryMessage.LiveExecutors;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Over;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.DirectoryMessage.Silent;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's table of where map outputs can be READ, by shuffle. {@link DirectoryEndpoint} hands
 * it the executors' messages on a thread of its own; Spark's listener and cleaner threads tell it
 * of lost executors and finished shuffles. Its broadcasts go with their shuffles, and with the
 * application.
 *
 * <p>It costs a dozen bytes a map output, whatever the number of partitions, and some hundred bytes
 * an executor. Tables are logs: an executor says how much of one it knows and gets the rest, so
 * 1,000 executors that follow 100,000 maps cost the driver copies of byte ranges. What is large
 * goes by broadcast, made once and cached, as Spark ships map statuses.
 *
 * <p>The directory never says where a block is, MapStatus does: it only adds keys. A wrong or
 * missing record costs a question to the peer.
 */
public final class LocationDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(LocationDirectory.class);

  /** What fits a message for certain, whatever Spark's own limit for broadcasts is. */
  private static final long MAX_DIRECT_BYTES = MessageCodec.MAX_FRAME_BYTES / 2;

  /** Reasons that are told apart; an application with so many has ended. */
  private static final int MAX_FAILURES = 100;

  private final Broadcasts broadcasts;
  private final long minBroadcastBytes;
  private final IntPredicate registered;
  private final Consumer<Report> reports;
  private final Map<Integer, PublishedShuffle> shuffles = new HashMap<>();
  private final ExecutorTable executors = new ExecutorTable();
  private final GoneExecutors gone = new GoneExecutors();
  private final Set<String> failures = new HashSet<>();

  /** Broadcasts that serve no more: destroying them blocks, so it waits until the lock is free. */
  private final Queue<Broadcasts.Shipped> obsolete = new ConcurrentLinkedQueue<>();

  private long generations;

  /**
   * @param minBroadcastBytes records of so many bytes are shipped as broadcast
   * @param registered whether Spark has a table of the shuffle's map outputs, without which nobody
   *     can read them
   * @param reports takes the executors' counters
   */
  public LocationDirectory(
      Broadcasts broadcasts,
      long minBroadcastBytes,
      IntPredicate registered,
      Consumer<Report> reports) {
    this.broadcasts = broadcasts;
    this.minBroadcastBytes = Math.min(minBroadcastBytes, MAX_DIRECT_BYTES);
    this.registered = registered;
    this.reports = reports;
  }

  /** Answers one message. */
  public DirectoryMessage handle(DirectoryMessage message) throws IOException {
    DirectoryMessage answer = answer(message);
    destroyObsolete();
    return answer;
  }

  private synchronized DirectoryMessage answer(DirectoryMessage message) throws IOException {
    return switch (message) {
      case Publish publish -> publish(publish);
      case Locate locate -> locate(locate);
      case Report report -> {
        reports.accept(report);
        yield new Over(
            report.shuffles().stream().filter(shuffle -> !registered.test(shuffle)).toList());
      }
      case Failure failure -> failed(failure);
      case Find find ->
          new Found(
              executors.node(find.executorId()).map(ExecutorEndpoint::peer).orElse(null),
              gone.contains(find.executorId()));
      case Ack _, Over _, Table _, Found _, Silent _ ->
          throw new IOException("not a question: " + message.getClass().getSimpleName());
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
        withdraw(executor, shuffles.get(output.shuffleId()));
      } else if (registered.test(output.shuffleId())) {
        shuffles
            .computeIfAbsent(output.shuffleId(), _ -> newShuffle())
            .log()
            .append(executor, output.location());
      }
    }
    return new Ack();
  }

  private PublishedShuffle newShuffle() {
    return new PublishedShuffle(++generations, broadcasts, minBroadcastBytes);
  }

  private void withdraw(int executor, PublishedShuffle shuffle) {
    if (shuffle != null && shuffle.log().remove(executor)) {
      obsolete.addAll(shuffle.replaced(++generations));
    }
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
      // Its node was started again, maybe at another port, which nobody says for those that are
      // gone. What they wrote is lost where it began anew, which NodeLifetimes finds there.
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

  private Table locate(Locate locate) throws IOException {
    LiveExecutors news = executors.since(locate.executors());
    PublishedShuffle shuffle = shuffles.get(locate.shuffleId());
    return shuffle == null
        ? new Table(0, new byte[0], new byte[0], news)
        : shuffle.table(locate, news);
  }

  private Ack failed(Failure failure) {
    if (failures.size() < MAX_FAILURES && failures.add(failure.reason())) {
      LOG.error(
          "Executor {} cannot run the shuffle as asked (said once for all executors): {}",
          failure.executorId(),
          failure.reason());
    }
    return new Ack();
  }

  /** An executor is gone for good, and with it all that it had published, unless a node has it. */
  public void executorLost(String executorId) {
    remove(executorId);
    destroyObsolete();
  }

  private synchronized void remove(String executorId) {
    gone.add(executorId);
    Optional<ExecutorEndpoint> node = executors.node(executorId);
    if (node.isEmpty() || executors.number(node.get()) == ExecutorTable.NONE) {
      forget(executorId);
      node.ifPresent(executors::add);
    }
  }

  private void forget(String executorId) {
    int number = executors.remove(executorId);
    if (number != ExecutorTable.NONE) {
      shuffles.values().forEach(shuffle -> withdraw(number, shuffle));
    }
  }

  /**
   * The shuffle's files are deleted. Its id may come back: what is published under it afterwards
   * begins a table of a new generation, provided that Spark knows the shuffle. A task that commits
   * too late may publish before Spark forgets it, so shuffles that it has forgotten since go, too.
   */
  public void unregister(int shuffleId) {
    remove(shuffleId);
    destroyObsolete();
  }

  private synchronized void remove(int shuffleId) {
    shuffles
        .entrySet()
        .removeIf(
            shuffle -> {
              boolean over = shuffle.getKey() == shuffleId || !registered.test(shuffle.getKey());
              if (over) {
                obsolete.addAll(shuffle.getValue().withdrawBroadcasts());
              }
              return over;
            });
  }

  /** With no lock held. */
  private void destroyObsolete() {
    for (Broadcasts.Shipped next = obsolete.poll(); next != null; next = obsolete.poll()) {
      next.destroy().run();
    }
  }

  /** The block servers of nodes that serve map outputs. */
  public synchronized Set<PeerAddress> nodes() {
    return executors.nodes();
  }

  /**
   * A node's block server is known by another id since it was started again.
   *
   * @param node as it was known before
   */
  public synchronized void nodeIsNow(PeerAddress node, String id) {
    PeerAddress now = new PeerAddress(id, node.host(), node.port());
    executors.at(node).stream()
        .findAny()
        .ifPresent(before -> executors.replace(node, now, before.provider()));
  }

  /**
   * A node's block server does not answer any more: what its executors wrote that are gone as well
   * is lost, and is not looked for there again.
   *
   * @return ids of those executors
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

  /** Executors that are gone, and of which nodes have what they wrote. */
  public synchronized Set<String> goneAtNodes() {
    return executors.atNodes().stream().filter(gone::contains).collect(Collectors.toSet());
  }

  /** What nodes have of these executors, which are gone, nobody asks for any more. */
  public synchronized void forgetAtNodes(Collection<String> executorIds) {
    executorIds.forEach(executors::removeNode);
    executorIds.forEach(executors::remove);
  }

  /** Shuffles of which something is published. */
  synchronized int shuffles() {
    return shuffles.size();
  }
}
