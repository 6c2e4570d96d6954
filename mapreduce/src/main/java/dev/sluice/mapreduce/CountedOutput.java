// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.task.reduce.MapHost;
import org.apache.hadoop.mapreduce.task.reduce.MapOutput;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleClientMetrics;
import org.jspecify.annotations.Nullable;

/**
 * A map output of Hadoop's merger that counts itself when the scheduler commits it. The scheduler
 * aborts a map output that another attempt of the map task has delivered before; that one is not
 * counted. A fetcher's thread makes it and calls it.
 */
final class CountedOutput<K, V> extends MapOutput<K, V> {
  private final MapOutput<K, V> target;
  private final @Nullable HttpReason reason;
  private final ShuffleCounters counters;
  private long bytes;

  /**
   * @param target the merger's map output, to which all calls go
   * @param reason why the bytes come by HTTP; null if they are READ
   */
  CountedOutput(MapOutput<K, V> target, @Nullable HttpReason reason, ShuffleCounters counters) {
    super(target.getMapId(), target.getSize(), target.isPrimaryMapOutput());
    this.target = target;
    this.reason = reason;
    this.counters = counters;
  }

  @Override
  public void shuffle(
      MapHost host,
      InputStream input,
      long compressedLength,
      long decompressedLength,
      ShuffleClientMetrics metrics,
      Reporter reporter)
      throws IOException {
    bytes = compressedLength;
    target.shuffle(host, input, compressedLength, decompressedLength, metrics, reporter);
  }

  @Override
  public void commit() throws IOException {
    target.commit();
    if (reason == null) {
      counters.read(bytes);
    } else {
      counters.byHttp(reason, bytes);
    }
  }

  @Override
  public void abort() {
    target.abort();
  }

  @Override
  public String getDescription() {
    return target.getDescription();
  }
}
