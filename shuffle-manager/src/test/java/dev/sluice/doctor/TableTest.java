package dev.sluice.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TableTest {
  private final Table table = new Table();

  @Test
  void whatSeveralFoundIsOneRowAndRowsOfANameAreTogether() {
    table.add(Finding.ok("java", "Java 25"), "1@a");
    table.add(Finding.fail("memlock", "8 MiB", "LimitMEMLOCK"), "1@a");
    table.add(Finding.ok("java", "Java 25"), "2@b");
    table.add(Finding.fail("java", "Java 17", "JAVA_HOME"), "3@c");

    assertThat(table.text().lines().map(String::strip))
        .containsExactly(
            "ok    java          Java 25",
            "on 1@a, 2@b",
            "fail  java          Java 17",
            "on 3@c",
            "set: JAVA_HOME",
            "fail  memlock       8 MiB",
            "on 1@a",
            "set: LimitMEMLOCK");
  }

  @Test
  void manyAreCounted() {
    IntStream.range(0, 20).forEach(i -> table.add(Finding.ok("java", "Java 25"), "e" + i));
    assertThat(table.text()).contains("on e0, e1, e2, e3, e4, e5, e6, e7 and 12 more");
    assertThat(table.json()).contains("\"e19\"");
  }

  @Test
  void theWorstIsTheExitStatus() {
    assertThat(table.exitStatus()).isZero();
    table.add(Finding.ok("a", ""));
    assertThat(table.exitStatus()).isZero();
    table.add(Finding.warn("b", "", ""));
    assertThat(table.exitStatus()).isEqualTo(1);
    table.add(Finding.fail("c", "", ""));
    assertThat(table.exitStatus()).isEqualTo(2);
  }

  @Test
  void jsonIsQuoted() {
    table.add(Finding.warn("a", "says \"no\"\n", "b\\c"));
    assertThat(table.json())
        .isEqualTo(
            """
            [
              {"name": "a", "level": "warn", "said": "says \\"no\\"\\u000a", "set": "b\\\\c", "where": []}
            ]
            """);
  }
}
