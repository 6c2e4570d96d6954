package dev.sluice.spark.gather;

/** Checked exceptions that Spark, written in Scala, throws through methods that declare none. */
final class Unchecked {
  private Unchecked() {}

  /** Throws the exception as it is; the result is for the caller's own {@code throw}. */
  static RuntimeException of(Exception e) {
    throw Unchecked.<RuntimeException>thrown(e);
  }

  @SuppressWarnings("unchecked")
  private static <E extends Exception> E thrown(Exception e) throws E {
    throw (E) e;
  }
}
