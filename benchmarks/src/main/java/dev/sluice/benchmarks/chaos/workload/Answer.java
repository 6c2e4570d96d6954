package dev.sluice.benchmarks.chaos.workload;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaRDDLike;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * What came of a workload, whatever the order of its records: equal answers are equal results.
 *
 * @param records their number
 * @param hash sum of the records' hashes
 */
public record Answer(long records, long hash) {
  public static final Answer NOTHING = new Answer(0, 0);

  public Answer plus(Answer other) {
    return new Answer(records + other.records, hash + other.hash);
  }

  Answer plus(long recordHash) {
    return new Answer(records + 1, hash + recordHash);
  }

  /** Adds up the records of a partition; sent to executors. */
  @FunctionalInterface
  interface PartitionSum<T> extends Serializable {
    Answer of(Iterator<T> records);
  }

  /** The hash of a record; sent to executors. */
  @FunctionalInterface
  interface RecordHash<T> extends Serializable {
    long of(T record);
  }

  /** Runs the job; its last tasks take their time, as {@link Pace} says. */
  static <T> Answer of(JavaRDDLike<T, ?> records, PartitionSum<T> sum) {
    return records
        .mapPartitions(partition -> List.of(sum.of(Pace.of(partition)).toArray()).iterator())
        .collect()
        .stream()
        .map(Answer::ofArray)
        .reduce(NOTHING, Answer::plus);
  }

  /** The same, where every record counts for itself. */
  static <T> Answer ofEach(JavaRDDLike<T, ?> records, RecordHash<T> hash) {
    return of(records, partition -> sum(partition, hash));
  }

  static Answer of(Dataset<Row> rows) {
    return ofEach(rows.toJavaRDD(), row -> hash(row.toString().getBytes(UTF_8)));
  }

  static <T> Answer sum(Iterator<T> records, RecordHash<T> hash) {
    Answer sum = NOTHING;
    while (records.hasNext()) {
      sum = sum.plus(hash.of(records.next()));
    }
    return sum;
  }

  /** For Kryo, which does not know records. */
  private long[] toArray() {
    return new long[] {records, hash};
  }

  private static Answer ofArray(long[] array) {
    return new Answer(array[0], array[1]);
  }

  /** FNV-1a, of 64 bits. */
  static long hash(byte[] bytes) {
    long hash = 0xcbf29ce484222325L;
    for (byte b : bytes) {
      hash = (hash ^ (b & 0xff)) * 0x100000001b3L;
    }
    return hash;
  }
}
