// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

/** Throws checked exceptions that Scala code such as Spark's throws without declaring them. */
final class Unchecked {
  private Unchecked() {}

  /** Throws the exception as it is. The result is for the caller's own {@code throw}. */
  static RuntimeException of(Exception e) {
    throw Unchecked.<RuntimeException>thrown(e);
  }

  @SuppressWarnings("unchecked")
  private static <E extends Exception> E thrown(Exception e) throws E {
    throw (E) e;
  }
}
