// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import java.io.IOException;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.ShuffleWriter;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;

/** A writer that records how it was stopped. */
final class OpenWriter extends ShuffleWriter<Integer, Integer> {
  /** Null before it is stopped. */
  Boolean stoppedAs;

  @Override
  public void write(Iterator<Product2<Integer, Integer>> records) throws IOException {}

  @Override
  public Option<MapStatus> stop(boolean success) {
    stoppedAs = success;
    return Option.empty();
  }

  @Override
  public long[] getPartitionLengths() {
    return new long[0];
  }
}
