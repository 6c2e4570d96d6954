// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CStringTest {
  @ParameterizedTest
  @ValueSource(strings = {"", "mlx5_0", "Gr\u00fc\u00dfe"})
  void aTextIsReadAsItWasWritten(String text) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment string = CString.allocate(arena, text);
      assertThat(CString.read(string)).isEqualTo(text);
      assertThat(string.get(JAVA_BYTE, string.byteSize() - 1)).isZero();
    }
  }

  @Test
  void aTextEndsAtItsZero() {
    MemorySegment array = MemorySegment.ofArray("longer text".getBytes(StandardCharsets.UTF_8));
    CString.write(array, "short");
    assertThat(CString.read(array)).isEqualTo("short");
  }

  @Test
  void aSegmentWithoutRoomOrEndIsRefused() {
    MemorySegment array = MemorySegment.ofArray("full".getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(() -> CString.write(array, "four"))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> CString.read(array)).isInstanceOf(IndexOutOfBoundsException.class);
  }
}
