// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.sluice.blocks.wire.Fields.Kinds;
import dev.sluice.blocks.wire.Fields.MaxElements;
import dev.sluice.blocks.wire.Fields.ShuffleId;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RecordCodecTest {
  @Kinds({Nothing.class, Point.class})
  private sealed interface Shape permits Point, Nothing {}

  private record Nothing() implements Shape {}

  private record Point(int x, long y) implements Shape {}

  private record Everything(
      boolean flag,
      String text,
      byte[] bytes,
      int[] ints,
      long[] longs,
      Point point,
      List<Point> points,
      Map<String, Long> counters,
      Optional<List<Integer>> some,
      Optional<Point> none,
      Shape shape) {}

  private record Bounded(
      @MaxElements(2) List<@ShuffleId Integer> shuffles, Optional<Shape> shape) {}

  private static <T> String encode(Class<T> type, T value) {
    Output output = new Output(16, -1);
    RecordCodec.of(type).writer().accept(output, value);
    return HexFormat.of().formatHex(output.toBytes());
  }

  private static <T> T decode(Class<T> type, String hex) {
    return RecordCodec.of(type).reader().apply(new Input(HexFormat.of().parseHex(hex)));
  }

  @Test
  void componentsFollowEachOther() {
    Everything everything =
        new Everything(
            true,
            "ä",
            new byte[] {-1},
            new int[] {1, -1},
            new long[] {2},
            new Point(3, 4),
            List.of(new Point(5, 6), new Point(7, 8)),
            Map.of("n", 9L),
            Optional.of(List.of(10)),
            Optional.empty(),
            new Point(11, 12));
    String hex =
        "01"
            + "02c3a4"
            + "01ff"
            + "0200000001ffffffff"
            + "010000000000000002"
            + "000000030000000000000004"
            + "02000000050000000000000006000000070000000000000008"
            + "01016e0000000000000009"
            + "01010000000a"
            + "00"
            + "010000000b000000000000000c";
    assertThat(encode(Everything.class, everything)).isEqualTo(hex);
    assertThat(decode(Everything.class, hex)).usingRecursiveComparison().isEqualTo(everything);
  }

  @Test
  void boundsHoldForWhatIsRead() {
    assertThat(decode(Bounded.class, "02000000000000000101" + "00").shape())
        .contains(new Nothing());
    assertThatThrownBy(() -> decode(Bounded.class, "03000000000000000100000002" + "00"))
        .isInstanceOf(KryoException.class)
        .hasMessage("3 elements, but at most 2 are allowed");
    assertThatThrownBy(() -> decode(Bounded.class, "01ffffffff" + "00"))
        .isInstanceOf(KryoException.class)
        .hasMessage("invalid shuffle id -1");
    assertThatThrownBy(() -> decode(Bounded.class, "00" + "0102"))
        .isInstanceOf(KryoException.class)
        .hasMessageContaining("unknown kind 2");
    assertThatThrownBy(() -> decode(Bounded.class, "00" + "01ff"))
        .isInstanceOf(KryoException.class)
        .hasMessageContaining("unknown kind -1");
  }

  @Test
  void elementsThatDoNotFitAreRefusedBeforeTheyAreRead() {
    record Points(List<Point> points) {}
    assertThatThrownBy(() -> decode(Points.class, "02" + "00".repeat(23)))
        .isInstanceOf(KryoException.class)
        .hasMessage("2 elements of 12 bytes do not fit in the remaining 23 bytes");
  }

  @Test
  void otherTypesHaveNoCodec() {
    record Fraction(double value) {}
    record Names(Set<String> names) {}
    record Thing(Runnable thing) {}
    for (Class<?> type : List.of(Fraction.class, Names.class, Thing.class)) {
      assertThatThrownBy(() -> RecordCodec.of(type)).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
