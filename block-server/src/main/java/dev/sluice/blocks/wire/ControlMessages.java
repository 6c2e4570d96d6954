// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import dev.sluice.blocks.wire.Fields.Kinds;
import dev.sluice.blocks.wire.Fields.MaxElements;
import dev.sluice.blocks.wire.Fields.ShuffleId;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import java.util.List;

/**
 * Messages between a block server and its clients. {@link
 * dev.sluice.blocks.client.BlockServerClient} makes the requests on any thread and sends them;
 * {@link dev.sluice.blocks.server.BlockServer} decodes them on the transport's threads and answers
 * them. A message does not change once it is made, and its arrays are not copied. Ids, fields and
 * their order never change: a changed message gets a new id ({@link
 * NodeMessages.RegisterExecutor#VERSION}).
 */
public final class ControlMessages {
  /** Limit of map outputs in one {@link Resolve}; the answer takes 123 KB. */
  public static final int MAX_RESOLVE = 4096;

  /** Limit of blocks in one {@link Stage}: 64 KB. */
  public static final int MAX_BLOCKS = 4096;

  /**
   * Limit of partitions in one {@link Stage} of several blocks; the answer takes 640 KB at most.
   */
  public static final int MAX_ENTRIES = 1 << 15;

  /** Limit of partitions of a block that is asked for alone; the answer takes 8 MB at most. */
  public static final int MAX_ENTRIES_ALONE = 1 << 19;

  /** An eighth of each time limit is kept in reserve. */
  private static final int MARGIN = 8;

  private static final int FIRST_ID = MessageType.FIRST_ID;

  /** Also part of the protocol of {@link NodeMessages}. */
  public static final MessageType<Refused> REFUSED = new MessageType<>(FIRST_ID + 2, Refused.class);

  /**
   * These types and their successors have ids from {@link MessageType#FIRST_ID} to 31. Earlier
   * versions used the ids that are missing.
   */
  public static final List<MessageType<?>> TYPES =
      List.of(
          new MessageType<>(FIRST_ID, Connect.class),
          new MessageType<>(FIRST_ID + 1, Connected.class),
          REFUSED,
          new MessageType<>(FIRST_ID + 5, Resolved.class),
          new MessageType<>(FIRST_ID + 9, NotStaged.class),
          new MessageType<>(FIRST_ID + 10, Done.class),
          new MessageType<>(FIRST_ID + 13, Addressed.class),
          new MessageType<>(FIRST_ID + 14, Staged.class));

  private ControlMessages() {}

  /**
   * A message for one process. Another process may listen at its address by now: it refuses a
   * question and ignores a notice.
   *
   * @param addressee the process that the sender's locations belong to
   * @param senderId id of the sender, whichever connection it uses
   */
  public record Addressed(ProcessName addressee, String senderId, Content content) {}

  /** Content that has a meaning for one process only. */
  @Kinds({
    Resolve.class,
    OfVersion4.class,
    OfVersion4.class,
    Touch.class,
    Released.class,
    Stage.class
  })
  public sealed interface Content permits Question, Notice, OfVersion4 {}

  /** Content that is answered. */
  public sealed interface Question extends Content permits Resolve, Stage {
    /** Answer that refuses the question, with the reason. */
    Object refusal(String reason);
  }

  /** Content without an answer. */
  public sealed interface Notice extends Content permits Touch, Released {}

  /**
   * Place of the two questions by which version 4 staged. They are not decoded, so these requests
   * fail, and their senders fetch the blocks by Spark's own transfer.
   */
  public record OfVersion4() implements Content {}

  /**
   * Returns the part of a time limit that the receiving process may use. The rest is for the way of
   * the answer, for the reader's next step, and for clocks that differ in speed.
   *
   * @param time in any unit
   */
  public static long usable(long time) {
    return time - time / MARGIN;
  }

  /**
   * Asks for a queue pair; answered by {@link Connected} or {@link Refused}.
   *
   * @param addressee process that is meant: locations have no meaning for another one at its
   *     address
   * @param peerId id of the sender
   * @param providerName provider of the sender's device
   * @param queuePair the sender's queue pair
   */
  public record Connect(
      ProcessName addressee, String peerId, String providerName, QueuePairAddress queuePair) {}

  /** The server's queue pair, connected to the queue pair of {@link Connect}. */
  public record Connected(QueuePairAddress queuePair) {}

  /** Refusal of a request, with the reason. */
  public record Refused(String reason) {}

  /**
   * The client has closed one of its queue pairs. No answer.
   *
   * @param peerId id of the client
   * @param qpNumber number of the closed queue pair
   */
  public record Released(String peerId, int qpNumber) implements Notice {}

  /** Asks for locations; answered by {@link Resolved} or {@link Refused}. */
  public record Resolve(@ShuffleId int shuffleId, long[] mapIds) implements Question {
    @Override
    public Refused refusal(String reason) {
      return new Refused(reason);
    }
  }

  /** One location for each map id of {@link Resolve}, in its order; null if there is none. */
  public record Resolved(@MaxElements(MAX_RESOLVE) List<MapOutputLocation> locations) {}

  /** The client READs from the shuffle. No answer. */
  public record Touch(@ShuffleId int shuffleId) implements Notice {
    /** Interval at which a client repeats the message while it READs. */
    public static final long INTERVAL_MS = 10_000;
  }

  /** Partitions [start, end) of a map output. */
  public record Partitions(long mapId, int start, int end) {}

  /**
   * Asks for the lengths of blocks that are not registered, and for a copy of as many of them as
   * fit; answered by {@link Staged} or {@link NotStaged}. The copy has the first blocks, whole and
   * one after the other. A block that is asked for alone may be cut: the client asks on from there.
   *
   * @param timeLeftMs time after which the client needs no answer
   * @param wanted {@link #MAX_BLOCKS} at most, with {@link #MAX_ENTRIES} partitions in all, or one
   *     with {@link #MAX_ENTRIES_ALONE}
   * @param position bytes of a single block that are left out; 0 if there are several
   * @param maxBytes limit of the copy; 0 for the lengths alone, also of registered map outputs
   */
  public record Stage(
      @ShuffleId int shuffleId,
      int timeLeftMs,
      List<Partitions> wanted,
      long position,
      int maxBytes)
      implements Question {
    /** Heap of one block, its header and the data about its map output. */
    private static final long BLOCK_HEAP_BYTES = 96;

    /** Number of partitions in all. */
    public long partitions() {
      return wanted.stream().mapToLong(each -> Math.max(0, (long) each.end() - each.start())).sum();
    }

    /** Returns false if the request is for too much, or has an invalid position or limit. */
    public boolean isAllowed() {
      boolean isSingle = wanted.size() == 1;
      return wanted.size() <= MAX_BLOCKS
          && partitions() <= (isSingle ? MAX_ENTRIES_ALONE : MAX_ENTRIES)
          && (position == 0 || (isSingle && position > 0))
          && maxBytes >= 0;
    }

    /** Approximate heap that the request and its answer take on the server. */
    public long heapBytes() {
      return BLOCK_HEAP_BYTES * wanted.size()
          + TableEntry.BYTES * (position == 0 ? partitions() : 1);
    }

    /** The same request with less time. */
    public Stage within(int leftMs) {
      return new Stage(shuffleId, leftMs, wanted, position, maxBytes);
    }

    /** Refuses as stale: the sender's locations belong to another process. */
    @Override
    public NotStaged refusal(String reason) {
      return new NotStaged(true, reason);
    }
  }

  /**
   * Lengths and checksums of the wanted blocks, and the region from which the client READs the
   * copy. The copy ends before the first block that does not fit. There is no copy and no lease if
   * the region is empty.
   *
   * @param leaseId never used again by this process
   * @param tookNanos from the receipt of {@link Stage} to this answer, by the server's clock, plus
   *     the wait at the client before, by the client's clock
   * @param leaseNanos for which the bytes stay unchanged from this answer on, unless the client
   *     sends {@link Done}
   * @param crc32c of all bytes, if a map output in the copy has no checksums of Spark's; else
   *     {@link #NO_CHECKSUM}
   * @param tables for each wanted block the {@link MapOutputHeader} and the {@link TableEntry}s, as
   *     a READ of the table would return them, or one entry for the whole block if the request
   *     leaves out its first bytes; {@link #STALE} or {@link #UNREADABLE} for a block that is left
   *     out of the copy
   */
  public record Staged(
      long leaseId,
      RemoteRegion region,
      long tookNanos,
      long leaseNanos,
      long crc32c,
      @MaxElements(MAX_BLOCKS) List<long[]> tables) {
    public static final long NO_CHECKSUM = -1;

    /** Table of a block if the client's location of it is stale. Compare {@link #isTable}. */
    @SuppressWarnings("MutablePublicArray") // its elements are never used
    public static final long[] STALE = {};

    /** Table of a block whose files cannot be read, perhaps only now. Differs in length. */
    @SuppressWarnings("MutablePublicArray") // its elements are never used
    public static final long[] UNREADABLE = {0};

    /** Returns true for entries, and false for the two other answers. */
    public static boolean isTable(long[] table) {
      return table.length > UNREADABLE.length;
    }

    /** The same answer, for a client that began to wait this much earlier. */
    public Staged after(long nanos) {
      return new Staged(leaseId, region, tookNanos + nanos, leaseNanos, crc32c, tables);
    }
  }

  /**
   * Nothing was copied, for this reason.
   *
   * @param stale true if the client's locations are stale: it may locate the map outputs again
   */
  public record NotStaged(boolean stale, String reason) {}

  /**
   * Ends a lease: the client has READ the bytes. No answer.
   *
   * @param addressee process that gave the lease; in another process at its address the same id
   *     means another lease
   * @param peerId id of the client, whichever connection it uses
   */
  public record Done(ProcessName addressee, String peerId, long leaseId) {}
}
