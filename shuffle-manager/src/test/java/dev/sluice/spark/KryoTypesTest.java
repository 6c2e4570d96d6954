// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.SerializerInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Shows how Spark's Kryo (4.0.3 in Spark 4.2.0) handles records with newer types of Java; a table
 * in docs/troubleshooting.md lists them. Kryo writes some types that it cannot read. Then the
 * reduce task fails, and users blame the shuffle.
 */
class KryoTypesTest {
  private static final ClassTag<Object> ANY = ClassTag$.MODULE$.apply(Object.class);

  private final SerializerInstance kryo = new KryoSerializer(new SparkConf(false)).newInstance();

  private record Point(int x, int y) {}

  static Stream<Object> readBack() {
    return Stream.of(
        new ArrayList<>(List.of(1)),
        Arrays.asList(1, 2),
        Collections.emptyList(),
        Collections.singletonList(1),
        Collections.unmodifiableList(new ArrayList<>(List.of(1))),
        EnumSet.of(TimeUnit.SECONDS));
  }

  static Stream<Object> writtenAndNotReadBack() {
    return Stream.of(
        List.of(),
        List.of(1),
        List.of(1, 2, 3),
        List.copyOf(new ArrayList<>(List.of(1))),
        Set.of(1),
        Map.of(1, 2),
        Stream.of(1).toList(),
        new ArrayList<>(List.of(1, 2, 3)).subList(0, 2),
        new EnumMap<>(Map.of(TimeUnit.SECONDS, 1)));
  }

  @ParameterizedTest
  @MethodSource
  void readBack(Object value) {
    assertThat(read(write(value))).isEqualTo(value);
  }

  @ParameterizedTest
  @MethodSource
  void writtenAndNotReadBack(Object value) {
    ByteBuffer written = write(value);
    // Reading an empty list works; using it throws.
    assertThatThrownBy(() -> read(written).hashCode()).isInstanceOf(RuntimeException.class);
  }

  @ParameterizedTest
  @MethodSource
  void notWritten(Object value) {
    assertThatThrownBy(() -> write(value)).isInstanceOf(IllegalArgumentException.class);
  }

  static Stream<Object> notWritten() {
    return Stream.of(new Point(1, 2));
  }

  private ByteBuffer write(Object value) {
    return kryo.serialize(value, ANY);
  }

  private Object read(ByteBuffer bytes) {
    return kryo.deserialize(bytes, ANY);
  }
}
