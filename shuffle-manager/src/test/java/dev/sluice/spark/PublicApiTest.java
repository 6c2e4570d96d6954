package dev.sluice.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Member;
import java.lang.reflect.Modifier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What other shuffle managers are compiled against. A line that is added is a decision, one that
 * changes or goes needs a new major version.
 */
class PublicApiTest {
  @Test
  void staysAsItIs() {
    assertThat(publicMembers(RdmaShuffle.class))
        .containsExactlyInAnyOrder(
            "public static dev.sluice.spark.RdmaShuffle"
                + " dev.sluice.spark.RdmaShuffle.create(org.apache.spark.SparkConf,boolean,"
                + "org.apache.spark.shuffle.IndexShuffleBlockResolver)",
            "public void" + " dev.sluice.spark.RdmaShuffle.register(org.apache.spark.SparkContext)",
            "public org.apache.spark.shuffle.IndexShuffleBlockResolver"
                + " dev.sluice.spark.RdmaShuffle.resolver()",
            "public org.apache.spark.shuffle.ShuffleWriter"
                + " dev.sluice.spark.RdmaShuffle.registering("
                + "org.apache.spark.shuffle.ShuffleWriter,int,long,org.apache.spark.TaskContext)",
            "public org.apache.spark.network.shuffle.BlockStoreClient"
                + " dev.sluice.spark.RdmaShuffle.client(org.apache.spark.TaskContext)",
            "public void dev.sluice.spark.RdmaShuffle.unregister(int)",
            "public java.util.Map dev.sluice.spark.RdmaShuffle.totals()",
            "public java.util.Map dev.sluice.spark.RdmaShuffle.devices()",
            "public void dev.sluice.spark.RdmaShuffle.close()");
  }

  private static Stream<String> publicMembers(Class<?> type) {
    return Stream.<Member[]>of(
            type.getDeclaredConstructors(), type.getDeclaredMethods(), type.getDeclaredFields())
        .flatMap(Stream::of)
        .filter(member -> Modifier.isPublic(member.getModifiers()))
        .map(Object::toString);
  }
}
