// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.esotericsoftware.kryo.Kryo;
import java.io.IOException;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.serializer.KryoRegistrator;
import org.apache.spark.storage.BlockManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SparkBroadcastsTest {
  private static final long DEADLINE_SECONDS = 30;

  private final SparkContext context =
      new SparkContext(
          new SparkConf(false)
              .setMaster("local[1]")
              .setAppName("broadcasts")
              .set("spark.ui.enabled", "false")
              .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
              .set("spark.kryo.pool", "false")
              .set("spark.kryo.registrator", Refusing.class.getName()));

  private final BlockManager blocks = context.env().blockManager();
  private final SparkBroadcasts broadcasts = new SparkBroadcasts(blocks);

  @AfterEach
  void stop() {
    context.stop();
  }

  @Test
  void bytesOfAnyLengthArriveWithoutTheApplicationsSerializer() throws IOException {
    for (int length : new int[] {0, 1, 4 << 20, (9 << 20) + 5}) {
      byte[] bytes = new byte[length];
      new Random(length).nextBytes(bytes);
      assertThat(broadcasts.fetch(broadcasts.ship(bytes).handle())).isEqualTo(bytes);
    }
  }

  @Test
  void destroyingRemovesAllPieces() throws Exception {
    Broadcasts.Shipped shipped = broadcasts.ship(new byte[9 << 20]);
    assertThat(pieces()).isEqualTo(3);

    shipped.destroy().run();

    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
    while (pieces() > 0 && System.nanoTime() - deadline < 0) {
      Thread.sleep(10);
    }
    assertThat(pieces()).isZero();
    assertThatThrownBy(() -> broadcasts.fetch(shipped.handle()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("broadcast_");
  }

  @Test
  void malformedHandlesAreRefused() {
    for (byte[] wrong : new byte[][] {{}, {1, 2, 3}, {0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0}}) {
      assertThatThrownBy(() -> broadcasts.fetch(wrong))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("not a handle");
    }
  }

  private int pieces() {
    return blocks.getMatchingBlockIds(id -> id.isBroadcast()).size();
  }

  /** Fails any code that creates a Kryo. */
  public static final class Refusing implements KryoRegistrator {
    @Override
    public void registerClasses(Kryo kryo) {
      throw new IllegalStateException("Kryo is used");
    }
  }
}
