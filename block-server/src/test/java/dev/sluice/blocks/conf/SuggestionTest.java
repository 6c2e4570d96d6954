// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SuggestionTest {
  private static final List<String> KEYS =
      List.of("a.ports", "a.host", "a.http", "a.registration.maxBytes", "a.staging.maxBytes");

  @ParameterizedTest
  @CsvSource({
    "a.prots, a.ports",
    "a.port, a.ports",
    "a.PORTS, a.ports",
    "a.hots, a.host",
    "a.htp, a.http",
    "a.registrationMaxBytes, a.registration.maxBytes",
    "a.stagging.maxbytes, a.staging.maxBytes",
    "ports, a.ports"
  })
  void namesTheNearestKey(String misspelt, String key) {
    assertThat(Suggestion.of(misspelt, "a.", KEYS)).isEqualTo(" (did you mean " + key + "?)");
  }

  @Test
  void saysNothingWhereNoKeyIsNear() {
    assertThat(Suggestion.of("a.bogus", "a.", KEYS)).isEmpty();
    assertThat(Suggestion.of("a.", "a.", KEYS)).isEmpty();
  }
}
