// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Executable;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.stream.Stream;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.junit.jupiter.api.Test;

/**
 * The API that other shuffle managers and drivers' programs are compiled against. Adding a line is
 * a decision; changing or removing one needs a new major version.
 */
class PublicApiTest {
  @Test
  void rdmaShuffleStaysCompatible() {
    assertThat(RdmaShuffle.class.getInterfaces()).containsExactly(AutoCloseable.class);
    assertThat(promised(RdmaShuffle.class))
        .containsExactlyInAnyOrder(
            "public static RdmaShuffle RdmaShuffle.create(SparkConf,boolean,"
                + "IndexShuffleBlockResolver)",
            "public abstract void RdmaShuffle.register(SparkContext)",
            "public abstract IndexShuffleBlockResolver RdmaShuffle.resolver()",
            "public abstract <K,V> ShuffleWriter<K, V> RdmaShuffle.registering("
                + "ShuffleWriter<K, V>,int,long,TaskContext)",
            "public abstract BlockStoreClient RdmaShuffle.client(TaskContext)",
            "public abstract void RdmaShuffle.unregister(int)",
            "public abstract Map<String, Long> RdmaShuffle.totals()",
            "public abstract Map<String, String> RdmaShuffle.devices()",
            "public abstract void RdmaShuffle.close()");
  }

  @Test
  void rdmaShuffleManagerStaysCompatible() {
    assertThat(RdmaShuffleManager.class.getSuperclass()).isEqualTo(SortShuffleManager.class);
    assertThat(promised(RdmaShuffleManager.class))
        .contains(
            "public RdmaShuffleManager(SparkConf,boolean)",
            "public Map<String, Long> RdmaShuffleManager.totals()",
            "public Map<String, String> RdmaShuffleManager.devices()");
  }

  /** Returns public members as in source code, but without packages. */
  private static Stream<String> promised(Class<?> type) {
    return Stream.<Executable[]>of(type.getDeclaredConstructors(), type.getDeclaredMethods())
        .flatMap(Arrays::stream)
        .filter(member -> Modifier.isPublic(member.getModifiers()) && !member.isSynthetic())
        .map(Executable::toGenericString)
        .map(member -> member.replaceAll("\\b[a-z]\\w*\\.", ""));
  }
}
