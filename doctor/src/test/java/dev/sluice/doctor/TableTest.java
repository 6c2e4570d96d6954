// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TableTest {
  private final Table table = new Table();

  @Test
  void equalFindingsAreOneRowAndRowsOfANameAreTogether() {
    table.add(Finding.ok("java", "Java 25"), new Where("1", "a"));
    table.add(Finding.fail("memlock", "8 MiB", "LimitMEMLOCK"), new Where("1", "a"));
    table.add(Finding.ok("java", "Java 25"), new Where("2", "b"));
    table.add(Finding.fail("java", "Java 17", "JAVA_HOME"), new Where("3", "c"));

    assertThat(table.text().lines().map(String::strip))
        .containsExactly(
            "ok    java          Java 25",
            "on 1@a, 2@b",
            "fail  java          Java 17",
            "on 3@c",
            "fix: JAVA_HOME",
            "fail  memlock       8 MiB",
            "on 1@a",
            "fix: LimitMEMLOCK");
  }

  @Test
  void manyAreCounted() {
    IntStream.range(0, 20)
        .forEach(i -> table.add(Finding.ok("java", "Java 25"), new Where("e" + i, "h")));
    assertThat(table.text())
        .contains("on e0@h, e1@h, e2@h, e3@h, e4@h, e5@h, e6@h, e7@h and 12 more");
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
  void jsonHasTheVersionTheHostTheTimeAndTheStatus() {
    table.add(Finding.warn("a", "", ""));
    assertThat(table.json())
        .matches(
            "(?s)\\{\"sluice\": \"[^\"]+\", \"time\": \"\\d{4}-\\d\\d-\\d\\dT[^\"]+Z\","
                + " \"host\": \"[^\"]+\", \"java\": \"[^\"]+\", \"exit_status\": 1,"
                + " \"findings\": \\[.*\\n]}\\n");
  }

  @Test
  void jsonHasNumbersAsNumbersAndTextQuoted() {
    table.add(
        Finding.warn("a", "says \"no\"\n", "b\\c")
            .with("limit_bytes", 8388608L)
            .with("share", 0.5)
            .with("limited", true)
            .with("unit", "x.service"),
        new Where("1", "h"));
    assertThat(table.json())
        .contains(
            """
              {"name": "a", "level": "warn", "values": {"limit_bytes": 8388608, "share": 0.5, \
            "limited": true, "unit": "x.service"}, "message": "says \\"no\\"\\u000a", \
            "consequences": [], "remedy": "b\\\\c", "where": [{"""
                .stripTrailing());
  }

  @Test
  void aConsequenceHasNoRowOfItsOwn() {
    List<Finding> findings = new ArrayList<>();
    Finding.ok("port", "ACTIVE").addTo(findings);
    Finding.warn("memlock", "8 MiB", "limits.d").addTo(findings);
    Finding.fail("provider", "none", "see there")
        .causedBy(List.of("port", "memlock"), "no verbs")
        .addTo(findings);
    Finding.fail("registration", "full", "rm").addTo(findings);
    findings.forEach(table::add);

    assertThat(table.text().lines().map(String::strip))
        .containsExactly(
            "ok    port          ACTIVE",
            "fail  memlock       8 MiB",
            "effect: no verbs",
            "fix: limits.d",
            "fail  registration  full",
            "fix: rm");
  }

  @Test
  void hostsThatTakeNoPartAreExplainedByTheirOwnFindingsAlone() {
    Finding old = Finding.fail("java", "Java 17", "JAVA_HOME");
    table.add(old, new Where("1", "a"));
    Finding absent = Finding.fail("mesh", "absent", "").causedBy(List.of("java"), "READ nothing");
    table.addAbout(List.of("a"), absent);
    table.addAbout(List.of("a", "b"), absent);

    assertThat(table.text().lines().map(String::strip))
        .containsExactly(
            "fail  java          Java 17",
            "on 1@a",
            "effect: READ nothing",
            "fix: JAVA_HOME",
            "fail  mesh          absent");
  }
}
