// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.write;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.TaskContext;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.util.TaskCompletionListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;

/**
 * Wraps one of Spark's writers. After its commit, the map output is registered or handed over to
 * the node daemon. {@code SluiceShuffle} makes it. The map task's thread calls it and ends it, so
 * it needs no lock. The MapStatus is passed on unchanged: it says where the block is and carries
 * row-based checksums. Neither registration nor a refused hand-over fails the task. The task fails
 * only if Spark was promised that the map output outlives this executor, it does not, and the
 * driver does not answer.
 */
public final class RegisteringShuffleWriter<K, V> extends ShuffleWriter<K, V> {
  private static final Logger LOG = LoggerFactory.getLogger(RegisteringShuffleWriter.class);

  private final ShuffleWriter<K, V> writer;
  private final int shuffleId;
  private final OpenWriters open;
  private final Commit committed;
  private boolean stopped;

  /** Action after a commit, when the files of a map output are there. */
  @FunctionalInterface
  public interface Commit {
    /**
     * @throws IOException if the map output ends with this executor and the driver does not know
     *     that; the message is the reason
     */
    void committed() throws IOException;
  }

  /**
   * @param task its end also ends this writer, as Spark stops no writer that failed with an Error
   * @param open counts this writer until then
   * @param committed called when the map output's files are there
   */
  public RegisteringShuffleWriter(
      ShuffleWriter<K, V> writer,
      int shuffleId,
      TaskContext task,
      OpenWriters open,
      Commit committed) {
    this.writer = writer;
    this.shuffleId = shuffleId;
    this.open = open;
    this.committed = committed;
    open.opened(shuffleId);
    TaskCompletionListener ended = _ -> writesNoMore();
    task.addTaskCompletionListener(ended);
  }

  private void writesNoMore() {
    if (!stopped) {
      stopped = true;
      open.closed(shuffleId);
    }
  }

  @Override
  public void write(Iterator<Product2<K, V>> records) throws IOException {
    writer.write(records);
  }

  /**
   * @throws UncheckedIOException if the driver has to know where the map output is and does not
   *     answer, with the reason
   */
  @Override
  public Option<MapStatus> stop(boolean success) {
    writesNoMore();
    Option<MapStatus> status = writer.stop(success);
    if (success && status.isDefined()) {
      register();
    }
    return status;
  }

  private void register() {
    try {
      committed.committed();
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    } catch (RuntimeException e) {
      LOG.warn("Registering a map output failed; readers get it by Spark's own transfer", e);
    }
  }

  @Override
  public long[] getPartitionLengths() {
    return writer.getPartitionLengths();
  }

  /**
   * Number of map tasks of this executor that are writing, by shuffle. {@link
   * RegisteringShuffleWriter}s count on map tasks' threads; the publisher's thread reads it,
   * without a lock. Each writer counts once and ends once, or the publisher lingers in vain.
   */
  public static final class OpenWriters {
    private final Map<Integer, Integer> counts = new ConcurrentHashMap<>();

    void opened(int shuffleId) {
      counts.merge(shuffleId, 1, Integer::sum);
    }

    void closed(int shuffleId) {
      counts.computeIfPresent(shuffleId, (_, count) -> count == 1 ? null : count - 1);
    }

    /** Returns true if another map output of the shuffle can be expected soon. */
    public boolean any(int shuffleId) {
      return counts.containsKey(shuffleId);
    }
  }
}
