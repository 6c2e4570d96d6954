// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.network.buffer.NettyManagedBuffer;
import org.junit.jupiter.api.Test;
import scala.Option;

/** The reader's blocks around the end of its task. */
final class ArrivalOrderReaderTest {
  private static final String BLOCK = "shuffle_0_0_0";

  private final TaskContextImpl task = TaskContext$.MODULE$.empty();
  private final ArrivalOrderReader<Integer, Integer> reader =
      new ArrivalOrderReader<>(null, null, task, task.taskMetrics().createTempShuffleReadMetrics());
  private final ByteBuf bytes = Unpooled.buffer(8);

  @Test
  void aBlockIsKeptUntilTheTaskEnds() {
    reader.onBlockFetchSuccess(BLOCK, new NettyManagedBuffer(bytes));
    assertThat(bytes.refCnt()).isEqualTo(2);
    task.markTaskCompleted(Option.empty());
    assertThat(bytes.refCnt()).isEqualTo(1);
  }

  @Test
  void aBlockThatArrivesAfterTheTaskIsReleased() {
    task.markTaskCompleted(Option.empty());
    reader.onBlockFetchSuccess(BLOCK, new NettyManagedBuffer(bytes));
    assertThat(bytes.refCnt()).isEqualTo(1);
  }
}
