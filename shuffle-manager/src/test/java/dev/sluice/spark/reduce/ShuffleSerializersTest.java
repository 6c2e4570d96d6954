// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.reduce.ExecutorFetching.ShuffleSerializers;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.Serializer;
import org.junit.jupiter.api.Test;
import scala.reflect.ClassTag$;

class ShuffleSerializersTest {
  private final ShuffleSerializers serializers = new ShuffleSerializers();

  @Test
  void tasksOfAShuffleShareTheFirstOnesKryo() {
    Serializer first = kryo();

    assertThat(serializers.get(1, first)).isSameAs(first);
    assertThat(serializers.get(1, kryo())).isSameAs(first);
  }

  @Test
  void shufflesMayDifferInTheirSerializers() {
    Serializer second = kryo();
    serializers.get(1, kryo());

    assertThat(serializers.get(2, second)).isSameAs(second);
  }

  @Test
  void sessionsWithClassesOfTheirOwnShareNothing() throws Exception {
    Serializer isolated = kryo();
    serializers.get(1, kryo());
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader session = new URLClassLoader(new URL[0], before)) {
      thread.setContextClassLoader(session);

      assertThat(serializers.get(1, isolated)).isSameAs(isolated);
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  /**
   * The classes are freed even if the shuffle still exists. A task may also outlive its shuffle.
   */
  @Test
  void tasksThatAreOverFreeTheClassesOfTheirSession() {
    WeakReference<ClassLoader> session = readInSession(1);

    long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (session.get() != null) {
      assertThat(System.nanoTime())
          .as("the session's class loader stays")
          .isLessThan(deadlineNanos);
      System.gc();
    }
  }

  private WeakReference<ClassLoader> readInSession(int shuffleId) {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    ClassLoader session = new URLClassLoader(new URL[0], before);
    thread.setContextClassLoader(session);
    try {
      serializers.get(shuffleId, kryo()).newInstance().serialize("text", ClassTag$.MODULE$.Any());
    } finally {
      thread.setContextClassLoader(before);
    }
    return new WeakReference<>(session);
  }

  @Test
  void serializersOfOthersStayTheTasks() {
    Serializer own = new JavaSerializer(new SparkConf(false));
    Serializer derived = new KryoSerializer(new SparkConf(false)) {};
    serializers.get(1, new JavaSerializer(new SparkConf(false)));
    serializers.get(2, kryo());

    assertThat(serializers.get(1, own)).isSameAs(own);
    assertThat(serializers.get(2, derived)).isSameAs(derived);
  }

  private static Serializer kryo() {
    return new KryoSerializer(new SparkConf(false));
  }
}
