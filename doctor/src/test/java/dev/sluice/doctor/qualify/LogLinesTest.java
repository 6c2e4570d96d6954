// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.qualify;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lines are streams of their own, whatever their length and however much of them is read. */
class LogLinesTest {
  private static LogLines lines(String log) {
    return new LogLines(new ByteArrayInputStream(log.getBytes(UTF_8)));
  }

  private static List<String> all(String log) throws IOException {
    LogLines lines = lines(log);
    List<String> all = new ArrayList<>();
    while (lines.nextLine()) {
      all.add(new String(lines.readAllBytes(), UTF_8));
    }
    assertThat(lines.nextLine()).isFalse();
    return all;
  }

  @Test
  void eachLineEndsAtItsBreak() throws IOException {
    assertThat(all("a\nbc\n\nd")).containsExactly("a", "bc", "", "d");
    assertThat(all("")).isEmpty();
    assertThat(all("\n")).containsExactly("");
  }

  /** The buffer has 64 KiB. */
  @ParameterizedTest
  @ValueSource(ints = {65_534, 65_535, 65_536, 65_537, 1 << 20})
  void linesMayBeLongerThanTheBuffer(int length) throws IOException {
    String line = "x".repeat(length);
    assertThat(all(line + "\nb\n" + line)).containsExactly(line, "b", line);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3, 4})
  void theRestOfALineIsSkipped(int read) throws IOException {
    LogLines lines = lines("abcd\nef\n" + "x".repeat(200_000) + "\ng\n");
    lines.nextLine();
    assertThat(lines.readNBytes(read)).hasSize(read);
    lines.nextLine();
    assertThat(lines.read()).isEqualTo('e');
    lines.nextLine();
    lines.nextLine();
    assertThat(lines.readAllBytes()).containsExactly('g');
    assertThat(lines.read()).isEqualTo(-1);
  }
}
