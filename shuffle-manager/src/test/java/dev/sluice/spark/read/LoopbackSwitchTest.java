package dev.sluice.spark.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.util.List;
import org.apache.spark.FetchFailed;
import org.apache.spark.shuffle.FetchFailedException;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.Test;
import scala.Option;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

class LoopbackSwitchTest {
  private static final BlockManagerId OWN = executor("1");
  private static final BlockManagerId OTHER = executor("2");

  @Test
  void onlyOwnBlocksAreRenamed() {
    List<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks =
        List.of(new Tuple2<>(OWN, null), new Tuple2<>(OTHER, null));

    List<BlockManagerId> renamed =
        CollectionConverters.asJava(
            LoopbackSwitch.rename("1", CollectionConverters.asScala(blocks.iterator()))
                .map(Tuple2::_1)
                .toSeq());

    assertThat(renamed).containsExactly(executor("1-loopback"), OTHER);
  }

  @Test
  void realIdIsFoundAgain() {
    assertThat(LoopbackSwitch.realId("1-loopback")).isEqualTo("1");
    assertThat(LoopbackSwitch.realId("2")).isEqualTo("2");
  }

  @Test
  void fetchFailureNamesTheRealExecutor() {
    IOException cause = new IOException("gone");
    Iterator<String> records =
        failing(new FetchFailedException(executor("1-loopback"), 3, 10, 4, 5, "lost", cause));

    Throwable failure = catchThrowable(LoopbackSwitch.restoreFailures(records)::next);

    assertThat(failure).isInstanceOf(FetchFailedException.class).hasMessage("lost");
    FetchFailed reason = (FetchFailed) ((FetchFailedException) failure).toTaskFailedReason();
    assertThat(reason.bmAddress()).isEqualTo(OWN);
    assertThat(reason.shuffleId()).isEqualTo(3);
    assertThat(reason.mapId()).isEqualTo(10);
    assertThat(reason.mapIndex()).isEqualTo(4);
    assertThat(reason.reduceId()).isEqualTo(5);
  }

  @Test
  void otherFailuresPassUnchanged() {
    IOException failure = new IOException("disk");

    assertThatThrownBy(LoopbackSwitch.restoreFailures(failing(failure))::hasNext).isSameAs(failure);
  }

  private static BlockManagerId executor(String id) {
    return BlockManagerId.apply(id, "host", 7337, Option.empty());
  }

  private static Iterator<String> failing(Exception failure) {
    return new AbstractIterator<>() {
      @Override
      public boolean hasNext() {
        throw LoopbackSwitchTest.<RuntimeException>unchecked(failure);
      }

      @Override
      public String next() {
        throw LoopbackSwitchTest.<RuntimeException>unchecked(failure);
      }
    };
  }

  @SuppressWarnings("unchecked")
  private static <E extends Exception> E unchecked(Exception e) throws E {
    throw (E) e;
  }
}
