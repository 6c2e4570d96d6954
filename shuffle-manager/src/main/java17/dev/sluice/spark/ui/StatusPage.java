// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.ui;

import dev.sluice.spark.ui.SluiceStatus.KnownExecutor;
import dev.sluice.spark.ui.SluiceUpdate.Bytes;
import dev.sluice.spark.ui.SluiceUpdate.Executor;
import dev.sluice.spark.ui.SluiceUpdate.Fallback;
import dev.sluice.spark.ui.SluiceUpdate.PeerFallback;
import dev.sluice.spark.ui.SluiceUpdate.Place;
import dev.sluice.spark.ui.SluiceUpdate.QueuePairs;
import dev.sluice.spark.ui.SluiceUpdate.Reads;
import dev.sluice.spark.ui.SluiceUpdate.SlowPeer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The page's HTML below Spark's header. It answers in this order: is Sluice on, how many bytes go
 * by READ, which peers are slow. {@link SluiceTab} uses it, on threads of Spark's web server. Names
 * and reasons come from the network, so all texts are escaped.
 */
final class StatusPage {
  /** A p99 above this multiple of the application's is marked. */
  private static final int SLOW_P99 = 2;

  /**
   * A p50 above this multiple of the application's is marked: a slow peer's own READs are many
   * enough to raise the application's p99, but not its median.
   */
  private static final int SLOW_P50 = 4;

  /** A shorter time is never marked. */
  private static final long MIN_SLOW_MICROS = 1_000;

  /** Shortest p50 and fewest READs of a peer that the log names as {@code SLOW_PEER}. */
  private static final long MIN_SLOW_PEER_MICROS = 50_000;

  private static final int MIN_SLOW_PEER_READS = 10;

  /** Reasons of fallbacks in an executor's row; the text that the mouse shows has all. */
  private static final int MAX_REASONS = 3;

  private static final String OFF = "off";
  private static final String SOFT = "soft";

  private final SluiceStatus status;
  private final StringBuilder out = new StringBuilder();

  private StatusPage(SluiceStatus status) {
    this.status = status;
  }

  /** Returns the page of an application without updates. */
  static String empty() {
    return "<p>No executor has reported shuffle blocks yet.</p>";
  }

  /** Returns the page of an application with the stock shuffle. */
  static String off(SluiceStatus.Off off) {
    return "<p><strong>off:</strong> %s. Spark's stock shuffle is in use.</p>"
            .formatted(Html.escape(off.reason()))
        + "<p><strong>Key that would change it:</strong> %s</p>"
            .formatted(Html.escape(off.setting().isEmpty() ? "none" : off.setting()));
  }

  static String failed() {
    return "<p>Rendering this page failed. The log has the reason.</p>";
  }

  static String of(SluiceStatus status) {
    return new StatusPage(status).write();
  }

  private String write() {
    summary();
    mixedProviders();
    out.append(new BytesPlot(status.points()).svg());
    fallbacks();
    peerFallbacks();
    slowPeers();
    executors();
    return out.toString();
  }

  private void summary() {
    Bytes bytes = status.bytes();
    long read = bytes.registered() + bytes.staged();
    out.append("<ul class=\"list-unstyled\">");
    item("Executors", providers());
    item(
        "By READ",
        "%s of %s remote bytes (%s)"
            .formatted(
                Html.percent(read, bytes.remote()),
                Html.bytes(bytes.remote()),
                "%s registered, %s staged"
                    .formatted(Html.bytes(bytes.registered()), Html.bytes(bytes.staged()))));
    item(
        "Fallback to Spark's own transfer",
        "%s (%s)"
            .formatted(
                Html.percent(bytes.fallback(), bytes.remote()), Html.bytes(bytes.fallback())));
    item("Local", Html.bytes(bytes.local()));
    Reads reads = status.reads();
    if (reads.count() > 0) {
      item(
          "READ requests",
          "%s; p50 %s, p99 %s"
              .formatted(
                  Html.count(reads.count()),
                  Html.micros(reads.p50Micros()),
                  Html.micros(reads.p99Micros())));
    }
    reasons().forEach((reason, number) -> item(number + " without a better provider", reason));
    out.append("</ul>");
  }

  /** Number of live executors by the reason why their provider is not a better one. */
  private Map<String, Long> reasons() {
    return status.executors().stream()
        .filter(known -> known.lives() && !known.executor().place().reason().isEmpty())
        .collect(
            Collectors.groupingBy(
                known -> known.executor().place().reason(), TreeMap::new, Collectors.counting()));
  }

  private void item(String name, String value) {
    out.append("<li><strong>")
        .append(Html.escape(name))
        .append(":</strong> ")
        .append(Html.escape(value))
        .append("</li>");
  }

  /** Number of live executors by provider. */
  private Map<String, Long> byProvider() {
    return status.executors().stream()
        .filter(KnownExecutor::lives)
        .collect(
            Collectors.groupingBy(
                known -> known.executor().place().provider(), TreeMap::new, Collectors.counting()));
  }

  private String providers() {
    Map<String, Long> byProvider = byProvider();
    String live =
        byProvider.entrySet().stream()
            .map(
                entry ->
                    entry.getKey().equals(OFF)
                        ? entry.getValue() + " without READs"
                        : entry.getValue() + " by " + entry.getKey())
            .collect(Collectors.joining(", "));
    return (live.isEmpty() ? "none" : live)
        + (status.lost() > 0 ? "; " + status.lost() + " lost" : "");
  }

  private void mixedProviders() {
    if (byProvider().keySet().stream().filter(name -> !name.equals(Place.UNKNOWN)).count() < 2) {
      return;
    }
    out.append("<div class=\"alert alert-warning\">Executors have different providers: ")
        .append(Html.escape(providers()))
        .append(". They do not READ from each other.")
        // Where soft is not among them, it would take the adapter from those that have one.
        .append(
            byProvider().containsKey(SOFT)
                ? " spark.shuffle.rdma.provider=soft gives all the same provider.</div>"
                : "</div>");
  }

  private void fallbacks() {
    if (status.fallbacks().isEmpty()) {
      return;
    }
    out.append("<h4>Fallbacks by reason</h4>");
    out.append(
        Html.table(
            "sluice-fallbacks",
            "Reason",
            "Blocks",
            "Bytes",
            "Share of remote bytes",
            "Key that would change it"));
    long remote = status.bytes().remote();
    for (Fallback fallback : status.fallbacks()) {
      out.append("<tr>")
          .append(Html.cell(fallback.reason()))
          .append(Html.number(fallback.blocks(), Html.count(fallback.blocks())))
          .append(Html.number(fallback.bytes(), Html.bytes(fallback.bytes())))
          .append(Html.number(fallback.bytes(), Html.percent(fallback.bytes(), remote)))
          .append(Html.cell(keyOrNone(fallback.key())))
          .append("</tr>");
    }
    out.append(Html.tableEnd());
  }

  private void peerFallbacks() {
    if (status.peerFallbacks().isEmpty()) {
      return;
    }
    out.append("<h4>Fallbacks by peer</h4>");
    out.append(
        Html.table(
            "sluice-peer-fallbacks", "Peer", "Reason", "Blocks", "Key that would change it"));
    for (PeerFallback fallback : status.peerFallbacks()) {
      boolean isSum = fallback.reason().isEmpty();
      out.append("<tr>")
          .append(Html.cell(fallback.peer()))
          .append(Html.cell(isSum ? "any" : fallback.reason()))
          .append(Html.number(fallback.blocks(), Html.count(fallback.blocks())))
          .append(Html.cell(isSum ? "see above" : keyOrNone(fallback.key())))
          .append("</tr>");
    }
    out.append(Html.tableEnd());
  }

  private static String keyOrNone(String key) {
    return key.isEmpty() ? "none" : key;
  }

  private void slowPeers() {
    if (status.slowPeers().isEmpty()) {
      return;
    }
    out.append("<h4>Slowest peers of the last minutes</h4>");
    out.append(
        "<p>Each executor counts its READs from a peer in the last one to two minutes. It goes back"
            + " further for a peer with few READs, or without any in that time.</p>");
    out.append(
        Html.table(
            "sluice-peers",
            "Peer",
            "Executors that name it",
            "Recent READ requests",
            "Recent bytes",
            "Recent p50 (median of executors)",
            "Recent p99 (largest)"));
    long most = status.slowPeers().stream().mapToLong(p -> p.reads().p99Micros()).max().orElse(0);
    for (SlowPeer peer : status.slowPeers()) {
      Reads reads = peer.reads();
      out.append("<tr>")
          .append(Html.cell(peer.peer()))
          .append(Html.number(peer.readers(), Html.count(peer.readers())))
          .append(Html.number(reads.count(), Html.count(reads.count())))
          .append(Html.number(peer.bytes(), Html.bytes(peer.bytes())))
          .append(Html.time(reads.p50Micros(), most, isSlow(reads)))
          .append(Html.time(reads.p99Micros(), most, isSlow(reads)))
          .append("</tr>");
    }
    out.append(Html.tableEnd());
  }

  private boolean isSlow(Reads reads) {
    Reads all = status.reads();
    return isSlow(reads.p99Micros(), SLOW_P99 * all.p99Micros())
        || isSlow(reads.p50Micros(), SLOW_P50 * all.p50Micros());
  }

  private static boolean isSlow(long micros, long limit) {
    return micros > Math.max(limit, MIN_SLOW_MICROS);
  }

  private void executors() {
    out.append("<h4>Executors</h4>");
    out.append(
        Html.table(
            "sluice-executors",
            "Executor",
            "State",
            "Provider",
            "Device, GID",
            "Block server",
            "READ registered",
            "READ staged",
            "Local",
            "Fallback",
            "Fallback blocks by reason",
            "Registered now / budget",
            "Staging / budget",
            "Buffers / budget",
            "Queue pairs to peers + of readers",
            "Its READ requests",
            "p50 of these",
            "p99 of these"));
    long most =
        status.executors().stream()
            .mapToLong(known -> known.executor().reads().p99Micros())
            .max()
            .orElse(0);
    status.executors().stream()
        .sorted(Comparator.comparingLong(known -> number(known.executor().id())))
        .forEach(known -> executor(known, most));
    out.append(Html.tableEnd());
  }

  /** Returns an executor's id as a number; the largest one for another kind of id. */
  private static long number(String id) {
    try {
      return Long.parseLong(id);
    } catch (NumberFormatException e) {
      return Long.MAX_VALUE;
    }
  }

  private void executor(KnownExecutor known, long most) {
    Executor executor = known.executor();
    Place place = executor.place();
    Bytes bytes = executor.bytes();
    Reads reads = executor.reads();
    out.append(known.lives() ? "<tr>" : "<tr style=\"opacity:.55\">")
        .append(Html.cell(executor.id()))
        .append(Html.cell(state(known)))
        .append(Html.cell(place.provider(), place.reason()))
        .append(Html.cell(joined(place.device(), place.gid())))
        .append(Html.cell(place.address()))
        .append(Html.number(bytes.registered(), Html.bytes(bytes.registered())))
        .append(Html.number(bytes.staged(), Html.bytes(bytes.staged())))
        .append(Html.number(bytes.local(), Html.bytes(bytes.local())))
        .append(Html.number(bytes.fallback(), Html.bytes(bytes.fallback())))
        .append(Html.cell(reasons(executor), keys(executor)))
        .append(level(known, executor.memory().registered(), executor.memory().maxRegistered()))
        .append(level(known, executor.memory().staging(), executor.memory().maxStaging()))
        .append(level(known, executor.memory().buffers(), executor.memory().maxBuffers()))
        .append(queuePairs(known))
        .append(Html.number(reads.count(), Html.count(reads.count())))
        .append(Html.time(reads.p50Micros(), most, isSlow(reads)))
        .append(Html.time(reads.p99Micros(), most, isSlow(reads)))
        .append("</tr>");
  }

  private String state(KnownExecutor known) {
    if (!known.lives()) {
      return "lost: " + known.lost();
    }
    String name = "executor " + known.executor().id() + " ";
    return status.slowPeers().stream()
            .anyMatch(peer -> peer.peer().startsWith(name) && isNamedAsSlow(peer.reads()))
        ? "live, slow peer"
        : "live";
  }

  private boolean isNamedAsSlow(Reads reads) {
    long[] recent = status.slowPeers().stream().mapToLong(p -> p.reads().p50Micros()).toArray();
    Arrays.sort(recent);
    // READs of a stage with large blocks may all take longer than those before.
    long others = Math.max(recent[(recent.length - 1) / 2], status.reads().p50Micros());
    long limit = Math.max(SLOW_P50 * others, MIN_SLOW_PEER_MICROS);
    return reads.count() >= MIN_SLOW_PEER_READS && reads.p50Micros() >= limit;
  }

  /** Returns the reasons of an executor's fallbacks with their blocks, the most bytes first. */
  private static String reasons(Executor executor) {
    String reasons =
        executor.fallbacks().stream()
            .limit(MAX_REASONS)
            .map(fallback -> fallback.reason() + " " + Html.count(fallback.blocks()))
            .collect(Collectors.joining(", "));
    int more = executor.fallbacks().size() - MAX_REASONS;
    return more > 0 ? reasons + ", " + more + " more" : reasons;
  }

  /** Returns all reasons of an executor's fallbacks, each with its bytes and key. */
  private static String keys(Executor executor) {
    return executor.fallbacks().stream()
        .map(
            fallback ->
                "%s: %s (%s)"
                    .formatted(
                        fallback.reason(),
                        Html.bytes(fallback.bytes()),
                        fallback.key().isEmpty() ? "no key" : fallback.key()))
        .collect(Collectors.joining(", "));
  }

  /** Returns a cell of memory in use; a lost executor uses none. */
  private static String level(KnownExecutor known, long used, long limit) {
    long now = known.lives() ? used : 0;
    return Html.number(now, Html.bytes(now) + " / " + Html.bytes(limit));
  }

  /** Returns a cell of queue pairs; a lost executor has none. */
  private static String queuePairs(KnownExecutor known) {
    QueuePairs now = known.lives() ? known.executor().queuePairs() : QueuePairs.NONE;
    return Html.number(now.reading() + now.serving(), now.reading() + " + " + now.serving());
  }

  private static String joined(String device, String gid) {
    return gid.isEmpty() ? device : device + ", " + gid;
  }
}
