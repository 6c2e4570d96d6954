// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
  void jsonHasTheLinesThatMendAFinding() {
    table.add(Finding.warn("a", "", "").mendedBy(FixLine.ofUnit("x.service", "User=spark")));
    assertThat(table.json())
        .containsPattern("\"lines\": \\[\\{.*\"line\": \"User=spark\"")
        .contains("/etc/systemd/system/x.service.d/sluice.conf");
  }

  @Test
  void withoutFindingsThereIsNothingToFix() {
    table.add(Finding.ok("java", "Java 25"));
    assertThat(table.fix()).isEqualTo("nothing to fix\n");
    assertThat(table.exitStatus()).isZero();
  }

  /** Each file is one section, in YAML as well. Equal lines are one line. */
  @Test
  void linesAreGroupedByTheirFiles() {
    FixLine memlock = FixLine.ofUnit("worker.service", "LimitMEMLOCK=infinity");
    table.add(
        Finding.fail("device files", "no file", "--device")
            .mendedBy(FixLine.of(FixLine.Place.POD_LIMIT, "rdma/a: 1")));
    table.add(Finding.fail("memlock", "8 MiB", "limits").mendedBy(memlock), new Where("1", "a"));
    table.add(Finding.warn("port", "is DOWN", "check the cable"));
    table.add(Finding.fail("memlock", "9 MiB", "limits").mendedBy(memlock), new Where("2", "b"));
    table.add(
        Finding.fail("memlock", "root has 8 MiB", "limits")
            .mendedBy(FixLine.of(FixLine.Place.POD_CAPABILITY, "- IPC_LOCK")));
    table.add(
        Finding.warn("manager", "is sort", "set it")
            .mendedBy(FixLine.setting("spark.shuffle.manager", "dev.sluice.X")));

    assertThat(table.fix())
        .isEqualTo(
            """
            # end of spark-defaults.conf; its last line for a key counts
            # is sort
            spark.shuffle.manager                      dev.sluice.X

            # /etc/systemd/system/worker.service.d/sluice.conf; then systemctl daemon-reload, and restart the unit
            [Service]
            # 8 MiB (on 1@a)
            # 9 MiB (on 2@b)
            LimitMEMLOCK=infinity

            # the executors' pod template (spark.kubernetes.executor.podTemplateFile)
            spec:
              containers:
                - name: spark-kubernetes-executor
                  securityContext:
                    capabilities:
                      add:
                        # root has 8 MiB
                        - IPC_LOCK
                  resources:
                    limits:
                      # no file
                      rdma/a: 1

            # No line mends these:
            # warn: port: is DOWN
            #   fix: check the cable
            """);
  }

  @Test
  void linesWithOneReasonStandTogether() {
    table.add(
        Finding.warn("manager", "is sort", "set it")
            .mendedBy(FixLine.setting("spark.shuffle.manager", "dev.sluice.X"))
            .mendedBy(FixLine.setting("spark.jars", "/x.jar")));
    assertThat(table.fix().lines().skip(1))
        .containsExactly(
            "# is sort",
            "spark.jars                                 /x.jar",
            "spark.shuffle.manager                      dev.sluice.X");
  }

  /** Whatever a check proposes, the protection of an application is its operator's decision. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "spark.authenticate",
        "spark.authenticate.enableSaslEncryption",
        "spark.io.encryption.enabled",
        "spark.network.crypto.authEngineVersion",
        "spark.network.crypto.cipher",
        "spark.network.crypto.enabled",
        "spark.network.sasl.serverAlwaysEncrypt",
        "spark.shuffle.rdma.allowPlaintext",
        "spark.ssl.rpc.enabled"
      })
  void noLineChangesTheProtectionOfAnApplication(String key) {
    Finding finding = Finding.fail("a", "b", "decide").mendedBy(FixLine.setting(key, "x"));
    assertThat(finding.mendedBy(FixLine.inPlaceOf("wrong", key, "x")).lines()).isEmpty();
  }

  @Test
  void whatNoLineMendsIsNoReasonToFindNothing() {
    table.add(Finding.warn("devices", "none", "modprobe"));
    assertThat(table.fix())
        .isEqualTo("# No line mends these:\n# warn: devices: none\n#   fix: modprobe\n");
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
