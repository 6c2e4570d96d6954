// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.conf.SettingTable.Refusal;
import dev.sluice.rdma.verbs.VerbsOptions;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SettingTableTest {
  private final SettingTable table =
      new SettingTable("a.", "%1$s=%2$s is unknown%3$s; known: %4$s");

  private final Setting<Integer> ports =
      table.with("ports", Type.integer(1, 9), "7").doc("Number of ports.");
  private final Setting<Long> bytes =
      table.derived("maxBytes", Type.bytes("1k", "1g"), "a quarter of the memory").doc("Limit.");

  @Test
  void aValueThatIsNotSetIsTheDefault() {
    Map<String, String> values = Map.of("a.maxBytes", "2k");
    assertThat(ports.get(values::get)).isEqualTo(7);
    assertThat(bytes.get(values::get)).isEqualTo(2048);
    assertThat(bytes.get(key -> null)).isNull();
  }

  @Test
  void anUnknownKeyIsNamedWithTheNearestOne() {
    assertThatThrownBy(() -> table.validate(Map.of("a.prots", "3")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a.prots=3 is unknown (did you mean a.ports?); known: a.maxBytes, a.ports");
  }

  @Test
  void aValueThatIsNotAllowedIsNamed() {
    assertThatCode(() -> table.validate(Map.of("a.ports", "3"))).doesNotThrowAnyException();
    assertThatThrownBy(() -> table.validate(Map.of("a.ports", "10")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a.ports is \"10\", but must be a whole number from 1 to 9");
  }

  /** One refusal must not hide the others from a user who mends a file. */
  @Test
  void allThatIsRefusedIsNamed() {
    assertThat(table.refusals(Map.of("a.ports", "3", "a.maxBytes", "1m"))).isEmpty();
    assertThat(table.refusals(Map.of("a.prots", "3", "a.ports", "10", "a.maxBytes", "1m")))
        .containsExactly(
            Map.entry(
                "a.ports",
                new Refusal("a.ports is \"10\", but must be a whole number from 1 to 9", "")),
            Map.entry(
                "a.prots",
                new Refusal("there is no key a.prots (did you mean a.ports?)", "a.ports")));
  }

  @Test
  void anEmptyTextIsNoValueWhereTheTypeSaysSo() {
    Type<?> optional = Type.integer(1, 9).optional();
    assertThat(optional.parse("a", " ")).isEqualTo(Optional.empty());
    assertThat(optional.parse("a", "3")).isEqualTo(Optional.of(3));
  }

  @Test
  void rowsAreWrittenInTheirOrder() {
    assertThat(SettingTable.write(table.rows(), "%1$s|%2$s|%3$s|%4$s|%5$s%n"))
        .isEqualToNormalizingNewlines(
            """
            a.ports|7|`7`|a whole number from 1 to 9|Number of ports.
            a.maxBytes|null|a quarter of the memory|a size from 1k to 1g such as 64m|Limit.
            """);
  }

  @Test
  void theDocumentedDefaultsOfDevicesAreTheirOwn() {
    VerbsSettings verbs = new VerbsSettings(table);
    assertThat(verbs.configure(VerbsOptions.DEFAULT, key -> null)).isEqualTo(VerbsOptions.DEFAULT);
    assertThat(table.rows()).containsAll(verbs.settings());
  }
}
