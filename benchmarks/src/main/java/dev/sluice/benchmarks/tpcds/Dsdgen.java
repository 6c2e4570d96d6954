// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import io.trino.tpcds.Results;
import io.trino.tpcds.Session;
import io.trino.tpcds.Table;
import io.trino.tpcds.random.RandomNumberStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The TPC-DS generator, with the seed of the golden answers. Tasks of {@link DataJob} call it in
 * executors. No class but this one may use the generator, since it sets the seed first.
 */
final class Dsdgen {
  static {
    try {
      GeneratorSeed.set(GeneratorSeed.OF_GOLDEN_ANSWERS);
    } catch (ReflectiveOperationException | IOException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private Dsdgen() {}

  /**
   * Generates a table's rows while they are iterated: columns as text, null or empty for a null
   * value, as Spark reads dsdgen's output. Tables of returns are generated as by {@code dsdgen
   * -table}, which generates the sales again.
   *
   * @param scale scale factor: 1 for about 1 GB in all tables
   */
  static Stream<List<String>> rows(String table, double scale) {
    Table generated = Table.getTable(table);
    Session session = Session.getDefaultSession().withScale(scale).withTable(generated);
    Results results = Results.constructResults(generated, session);
    return StreamSupport.stream(results.spliterator(), false)
        .map(rows -> rows.getFirst().stream().map(Dsdgen::asRead).toList());
  }

  /**
   * Decodes names of countries as Spark does: dsdgen writes ISO 8859-1, Spark reads UTF-8. Golden
   * answers therefore have U+FFFD for their non-ASCII letters.
   */
  private static String asRead(String value) {
    return value == null || value.chars().allMatch(letter -> letter < 0x80)
        ? value
        : new String(value.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }

  /**
   * Changes the seed of the TPC-DS generator. The Java port has no {@code dsdgen -RNGSEED}: the
   * seed is a constant in one constructor. This class defines a copy of that class with another
   * constant, in the generator's class loader and before its first use. The jar stays as it is on
   * Maven Central, and its other classes are not affected.
   */
  static final class GeneratorSeed {
    /** Seed of the data from which the golden answers of Spark's TPCDSQueryTestSuite come. */
    static final int OF_GOLDEN_ANSWERS = 100;

    /** The generator's own seed, which the copied class replaces. */
    private static final int COMPILED_IN = 19620718;

    private static final byte CONSTANT_INTEGER = 3;

    private static final String CLASS_FILE = "RandomNumberStreamImpl.class";

    private GeneratorSeed() {}

    /**
     * Sets the seed. Call it once in a process, before the generator is used.
     *
     * @throws LinkageError if the generator's class is already loaded
     */
    static void set(int seed) throws IOException, IllegalAccessException {
      try (InputStream original = RandomNumberStream.class.getResourceAsStream(CLASS_FILE)) {
        MethodHandles.privateLookupIn(RandomNumberStream.class, MethodHandles.lookup())
            .defineClass(withSeed(original.readAllBytes(), seed));
      }
    }

    /** Returns the class file with another number in its one constant that is the seed. */
    private static byte[] withSeed(byte[] original, int seed) {
      byte[] changed = original.clone();
      byte[] constant = constant(COMPILED_IN);
      int places = 0;
      for (int at = 0; at + constant.length <= original.length; at++) {
        if (Arrays.equals(original, at, at + constant.length, constant, 0, constant.length)) {
          System.arraycopy(constant(seed), 0, changed, at, constant.length);
          places++;
        }
      }
      if (places != 1) {
        throw new IllegalStateException(
            CLASS_FILE + " has its seed in " + places + " places; expected 1");
      }
      return changed;
    }

    /** Returns an int as a class file has it among its constants (JVMS 4.4.4). */
    private static byte[] constant(int value) {
      return ByteBuffer.allocate(1 + Integer.BYTES).put(CONSTANT_INTEGER).putInt(value).array();
    }
  }
}
