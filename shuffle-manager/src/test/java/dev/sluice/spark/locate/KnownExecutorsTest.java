// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.locate.DirectoryMessage.LiveExecutors;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KnownExecutorsTest {
  private final ExecutorTable table = new ExecutorTable();
  private final List<String> lost = new ArrayList<>();
  private final KnownExecutors known = new KnownExecutors(gone -> lost.add(gone.id()));

  @Test
  void hearsOnlyOfTheLossOfExecutorsThatItKnew() {
    table.add(Samples.endpoint("1"));
    table.add(Samples.endpoint("2"));
    update();
    table.add(Samples.endpoint("3"));
    table.remove("3");
    table.remove("1");

    update();

    assertThat(lost).containsExactly("1");
    assertThat(known.endpoint("1")).isNull();
    assertThat(known.number("1")).isEqualTo(ExecutorTable.NONE);
    assertThat(known.number("2")).isEqualTo(2);
  }

  @Test
  void anExecutorThatCameBackIsAnother() {
    int first = table.add(Samples.endpoint("1"));
    update();
    table.remove("1");
    int second = table.add(Samples.endpoint("1"));

    update();

    assertThat(lost).containsExactly("1");
    assertThat(second).isNotEqualTo(first);
    assertThat(known.number("1")).isEqualTo(second);
  }

  @Test
  void aNodeIsLostWithTheLastExecutorThatItServes() {
    table.add(Samples.atNode("1", "node"));
    table.add(Samples.atNode("2", "node"));
    update();
    table.remove("1");
    update();
    assertThat(lost).isEmpty();
    assertThat(known.endpoint("1")).isNull();
    table.remove("2");
    update();
    assertThat(lost).containsExactly("node");
  }

  /** READs from the node are pending. */
  @Test
  void aNodeIsNotLostWhileItsLastExecutorServesItself() {
    table.add(Samples.atNode("1", "node"));
    update();
    table.remove("1");
    table.add(Samples.endpoint("1"));
    update();
    assertThat(lost).isEmpty();

    table.remove("1");
    table.add(Samples.atNode("1", "node"));
    update();
    assertThat(lost).containsExactly("1");
    table.remove("1");
    update();
    assertThat(lost).containsExactly("1", "node");
  }

  @Test
  void answersThatOvertakeEachOtherEndInTheNewest() {
    Random random = new Random(7);
    List<LiveExecutors> answers = new ArrayList<>();
    for (int change = 0; change < 1000; change++) {
      String executorId = "" + random.nextInt(20);
      if (table.remove(executorId) == ExecutorTable.NONE) {
        table.add(Samples.endpoint(executorId));
      }
      answers.add(table.since(known.version()));
      if (random.nextInt(4) == 0) {
        known.update(answers.remove(random.nextInt(answers.size())));
      }
    }
    answers.reversed().forEach(known::update);

    LiveExecutors all = table.since(0);
    for (int executor = 0; executor < 20; executor++) {
      String executorId = "" + executor;
      int number = table.number(Samples.endpoint(executorId));
      assertThat(known.number(executorId)).isEqualTo(number);
      assertThat(known.endpoint(executorId) != null).isEqualTo(number != ExecutorTable.NONE);
    }
    assertThat(known.version()).isEqualTo(all.version());
  }

  private void update() {
    known.update(table.since(known.version()));
  }
}
