// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.table;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.GetTables;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Tables;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks one peer for entries of partition tables that are not registered, which are those of map
 * outputs that it stages. {@link TableReader} makes one for each read, on any thread; it never
 * blocks. Delivery threads fill the pieces: two answers may concern the same piece at once, so they
 * write disjoint entries, equal headers, and any one of their failures. It caches nothing: no other
 * task needs the entries, and headers come with them.
 */
final class StagedTables {
  private static final Logger LOG = LoggerFactory.getLogger(StagedTables.class);

  /** Fraction (1/2) of the remaining time for an answer; staging and READ need the rest. */
  private static final int SHARE = 2;

  /**
   * Entries to ask for, and their target.
   *
   * @param at index of the first long in the target
   */
  private record Part(TableSlice piece, Partitions wanted, long[] target, int at) {
    int entries() {
      return wanted.end() - wanted.start();
    }
  }

  private final ReadTransport transport;
  private final Executor deliverer;
  private final LongSupplier nanoClock;
  private final PeerAddress peer;
  private final int shuffleId;

  /**
   * @param deliverer evaluates the answers
   */
  StagedTables(
      ReadTransport transport,
      Executor deliverer,
      LongSupplier nanoClock,
      PeerAddress peer,
      int shuffleId) {
    this.transport = transport;
    this.deliverer = deliverer;
    this.nanoClock = nanoClock;
    this.peer = peer;
    this.shuffleId = shuffleId;
  }

  /**
   * Fills the pieces.
   *
   * @param answers receives futures that never complete exceptionally: pieces record failures
   */
  void ask(List<TableSlice> pieces, long deadlineNanos, List<CompletableFuture<Void>> answers) {
    List<Part> parts = new ArrayList<>();
    for (TableSlice piece : pieces) {
      piece.headers(new long[MapOutputHeader.LONGS]);
      piece.rows().forEach(rows -> add(piece, rows, parts));
    }
    for (List<Part> batch :
        TableReader.batches(parts, Part::entries, ControlMessages.MAX_ENTRIES)) {
      answers.add(question(batch, deadlineNanos));
    }
  }

  /** Adds the entries of a piece, in parts that fit a request. */
  private static void add(TableSlice piece, TableSlice.Rows rows, List<Part> parts) {
    long[] entries = new long[(rows.end() - rows.start()) * TableEntry.LONGS];
    rows.entries(entries);
    for (int start = rows.start(); start < rows.end(); start += ControlMessages.MAX_ENTRIES) {
      int end = Math.min(rows.end(), start + ControlMessages.MAX_ENTRIES);
      Partitions wanted = new Partitions(piece.mapId(), start, end);
      parts.add(new Part(piece, wanted, entries, (start - rows.start()) * TableEntry.LONGS));
    }
  }

  private CompletableFuture<Void> question(List<Part> parts, long deadlineNanos) {
    long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - nanoClock.getAsLong());
    if (leftMs <= 0) {
      return CompletableFuture.runAsync(() -> fail(parts, FallbackReason.DEADLINE), deliverer);
    }
    int timeLeftMs = (int) Math.min(leftMs / SHARE, Integer.MAX_VALUE);
    List<Partitions> wanted = parts.stream().map(Part::wanted).toList();
    try {
      return transport
          .tables(peer, new GetTables(shuffleId, timeLeftMs, wanted))
          .handleAsync((answer, failure) -> take(parts, answer, failure), deliverer);
    } catch (RuntimeException | Error e) {
      LOG.error("Asking {} for partition tables failed unexpectedly", peer, e);
      return CompletableFuture.runAsync(() -> fail(parts, FallbackReason.TRANSPORT), deliverer);
    }
  }

  private @Nullable Void take(List<Part> parts, Object answer, Throwable failure) {
    switch (answer) {
      case Tables(List<long[]> tables) when tables.size() == parts.size() -> {
        for (int i = 0; i < parts.size(); i++) {
          take(parts.get(i), tables.get(i));
        }
      }
      case NotStaged not -> {
        LOG.debug("{} sent no partition tables: {}", peer, not.reason());
        fail(parts, not.stale() ? FallbackReason.STALE_LOCATION : FallbackReason.STAGING);
      }
      case null, default -> {
        LOG.debug(
            "Asking {} for partition tables failed, or the answer is not usable: {}",
            peer,
            answer,
            failure);
        fail(parts, FallbackReason.STAGING);
      }
    }
    return null;
  }

  private void take(Part part, long[] table) {
    int longs = part.entries() * TableEntry.LONGS;
    if (table.length == 0) {
      part.piece().failed(FallbackReason.STALE_LOCATION);
    } else if (table.length == Tables.UNREADABLE.length) {
      part.piece().failed(FallbackReason.STAGING);
    } else if (table.length == MapOutputHeader.LONGS + longs) {
      System.arraycopy(table, 0, part.piece().headers(), 0, MapOutputHeader.LONGS);
      System.arraycopy(table, MapOutputHeader.LONGS, part.target(), part.at(), longs);
    } else {
      LOG.warn(
          "The answer of {} to a request for {} has a wrong length of {} longs",
          peer,
          part.wanted(),
          table.length);
      part.piece().failed(FallbackReason.STAGING);
    }
  }

  private static void fail(List<Part> parts, FallbackReason reason) {
    parts.forEach(part -> part.piece().failed(reason));
  }
}
