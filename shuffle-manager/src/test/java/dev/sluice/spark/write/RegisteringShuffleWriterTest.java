// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.spark.write.RegisteringShuffleWriter.OpenWriters;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.MapStatus$;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.Test;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;

class RegisteringShuffleWriterTest {
  private final MapStatus status =
      MapStatus$.MODULE$.apply(
          BlockManagerId.apply("1", "host", 7, Option.empty()), new long[] {3}, 42, 99);
  private final List<String> calls = new ArrayList<>();
  private final OpenWriters open = new OpenWriters();
  private final TaskContextImpl task = TaskContext$.MODULE$.empty();

  @Test
  void registersCommittedMapOutputsAndReturnsTheSameMapStatus() {
    ShuffleWriter<Object, Object> writer =
        new RegisteringShuffleWriter<>(
            new Scripted(Option.apply(status)), 3, task, open, () -> log("register"));
    assertThat(writer.stop(true).get()).isSameAs(status);
    assertThat(calls).containsExactly("stop true", "register");
  }

  @Test
  void registersNothingOfAFailedTask() {
    ShuffleWriter<Object, Object> writer =
        new RegisteringShuffleWriter<>(
            new Scripted(Option.empty()), 3, task, open, () -> log("register"));
    assertThat(writer.stop(false).isEmpty()).isTrue();
    assertThat(writer.stop(true).isEmpty()).isTrue();
    assertThat(calls).containsExactly("stop false", "stop true");
  }

  @Test
  void aFailureToRegisterIsNotTheTasks() {
    ShuffleWriter<Object, Object> writer =
        new RegisteringShuffleWriter<>(
            new Scripted(Option.apply(status)),
            3,
            task,
            open,
            () -> {
              throw new IllegalStateException("closed");
            });
    assertThat(writer.stop(true).get()).isSameAs(status);
  }

  @Test
  void aFailureToHandOverIsTheTasks() {
    ShuffleWriter<Object, Object> writer =
        new RegisteringShuffleWriter<>(
            new Scripted(Option.apply(status)),
            3,
            task,
            open,
            () -> {
              throw new IOException("the disk is full");
            });
    assertThatThrownBy(() -> writer.stop(true))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessage("the disk is full");
    assertThat(open.any(3)).isFalse();
    writer.stop(false); // Spark does so after a failure.
  }

  @Test
  void countsAsOpenUntilItIsStopped() {
    ShuffleWriter<Object, Object> first =
        new RegisteringShuffleWriter<>(new Scripted(Option.empty()), 3, task, open, () -> {});
    ShuffleWriter<Object, Object> second =
        new RegisteringShuffleWriter<>(new Scripted(Option.empty()), 3, task, open, () -> {});
    assertThat(open.any(3)).isTrue();
    assertThat(open.any(4)).isFalse();
    first.stop(true);
    first.stop(false);
    assertThat(open.any(3)).isTrue();
    second.stop(false);
    assertThat(open.any(3)).isFalse();
  }

  @Test
  void aWriterThatAnErrorEndedIsNotOpenBeyondItsTask() {
    TaskContextImpl other = TaskContext$.MODULE$.empty();
    new RegisteringShuffleWriter<>(new Scripted(Option.empty()), 3, task, open, () -> {});
    ShuffleWriter<Object, Object> stopped =
        new RegisteringShuffleWriter<>(new Scripted(Option.empty()), 4, task, open, () -> {});
    new RegisteringShuffleWriter<>(new Scripted(Option.empty()), 4, other, open, () -> {});
    stopped.stop(true);

    task.markTaskCompleted(Option.empty());

    assertThat(open.any(3)).isFalse();
    assertThat(open.any(4)).as("another task writes").isTrue();
  }

  @Test
  void partitionLengthsAreSparks() {
    ShuffleWriter<Object, Object> writer =
        new RegisteringShuffleWriter<>(
            new Scripted(Option.empty()), 3, task, open, () -> log("register"));
    assertThat(writer.getPartitionLengths()).containsExactly(1, 2);
  }

  private void log(String call) {
    calls.add(call);
  }

  private final class Scripted extends ShuffleWriter<Object, Object> {
    private final Option<MapStatus> result;

    Scripted(Option<MapStatus> result) {
      this.result = result;
    }

    @Override
    public void write(Iterator<Product2<Object, Object>> records) {
      log("write");
    }

    @Override
    public Option<MapStatus> stop(boolean success) {
      log("stop " + success);
      return result;
    }

    @Override
    public long[] getPartitionLengths() {
      return new long[] {1, 2};
    }
  }
}
