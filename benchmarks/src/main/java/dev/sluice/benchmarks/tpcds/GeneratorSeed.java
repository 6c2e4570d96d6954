package dev.sluice.benchmarks.tpcds;

import io.trino.tpcds.random.RandomNumberStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeElement;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.invoke.MethodHandles;

/**
 * Gives the TPC-DS generator another seed. {@code dsdgen -RNGSEED} is not part of the Java port:
 * the seed is a constant in one constructor of one class. That class is defined here, with the
 * other constant, in the generator's own class loader and before the generator uses it: the
 * library's jar stays as it is on Maven Central, and its other classes never notice.
 */
final class GeneratorSeed {
  /** Of the data that the golden answers of Spark's TPCDSQueryTestSuite come from. */
  static final int OF_GOLDEN_ANSWERS = 100;

  private static final Integer COMPILED_IN = 19620718;
  private static final String CLASS_FILE = "RandomNumberStreamImpl.class";

  private GeneratorSeed() {}

  /**
   * Once in a process, before anything of the generator is used.
   *
   * @throws LinkageError when it is too late
   */
  static void set(int seed) throws IOException, IllegalAccessException {
    try (InputStream original = RandomNumberStream.class.getResourceAsStream(CLASS_FILE)) {
      MethodHandles.privateLookupIn(RandomNumberStream.class, MethodHandles.lookup())
          .defineClass(withSeed(original.readAllBytes(), seed));
    }
  }

  private static byte[] withSeed(byte[] original, int seed) {
    ClassModel stream = ClassFile.of().parse(original);
    long places =
        stream.methods().stream()
            .flatMap(method -> method.code().stream())
            .flatMap(code -> code.elementStream())
            .filter(GeneratorSeed::loadsSeed)
            .count();
    if (places != 1) {
      throw new IllegalStateException(CLASS_FILE + " has its seed in " + places + " places, not 1");
    }
    return ClassFile.of()
        .transformClass(
            stream,
            ClassTransform.transformingMethodBodies(
                (code, element) -> {
                  if (loadsSeed(element)) {
                    code.loadConstant(seed);
                  } else {
                    code.with(element);
                  }
                }));
  }

  private static boolean loadsSeed(CodeElement element) {
    return element instanceof ConstantInstruction load && COMPILED_IN.equals(load.constantValue());
  }
}
