package dev.sluice.spark.read;

import org.apache.spark.FetchFailed;
import org.apache.spark.shuffle.FetchFailedException;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.Seq;

/**
 * For tests on one executor ({@code spark.shuffle.rdma.testing.loopback}): renames this executor
 * where Spark's iterator looks, so that it fetches local blocks as remote ones, and the client
 * READs them through a real queue pair. A fetch failure gets the real name back, without which the
 * scheduler would not find the map output to run again. Spark must not read the host's disks either
 * ({@code spark.shuffle.readHostLocalDisk=false}).
 */
final class LoopbackSwitch {
  private static final String SUFFIX = "-loopback";

  private LoopbackSwitch() {}

  /** The executor's real id, by what the iterator was told. */
  static String realId(String executorId) {
    return executorId.endsWith(SUFFIX)
        ? executorId.substring(0, executorId.length() - SUFFIX.length())
        : executorId;
  }

  /** The same blocks, those of this executor under its other name. */
  static Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> rename(
      String ownExecutorId,
      Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocksByAddress) {
    return blocksByAddress.map(
        blocks ->
            blocks._1().executorId().equals(ownExecutorId)
                ? new Tuple2<>(withId(blocks._1(), ownExecutorId + SUFFIX), blocks._2())
                : blocks);
  }

  /** The same records; fetch failures name executors by their real ids. */
  static <T> Iterator<T> restoreFailures(Iterator<T> records) {
    return new AbstractIterator<>() {
      @Override
      public boolean hasNext() {
        try {
          return records.hasNext();
        } catch (Exception e) {
          throw restored(e);
        }
      }

      @Override
      public T next() {
        try {
          return records.next();
        } catch (Exception e) {
          throw restored(e);
        }
      }
    };
  }

  /** A fetch failure's constructor tells the task about it: to be thrown at once. */
  private static RuntimeException restored(Exception e) {
    if (!(e instanceof FetchFailedException fetchFailure)) {
      return LoopbackSwitch.<RuntimeException>unchecked(e);
    }
    FetchFailed failed = (FetchFailed) fetchFailure.toTaskFailedReason();
    BlockManagerId address = failed.bmAddress();
    return LoopbackSwitch.<RuntimeException>unchecked(
        new FetchFailedException(
            address == null ? null : withId(address, realId(address.executorId())),
            failed.shuffleId(),
            failed.mapId(),
            failed.mapIndex(),
            failed.reduceId(),
            e.getMessage(),
            e));
  }

  private static BlockManagerId withId(BlockManagerId address, String executorId) {
    return BlockManagerId.apply(executorId, address.host(), address.port(), address.topologyInfo());
  }

  /** Scala's iterators throw checked exceptions, which Java has to be talked into. */
  @SuppressWarnings("unchecked")
  private static <E extends Exception> E unchecked(Exception e) throws E {
    throw (E) e;
  }
}
