// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Reads text files that lie next to a class, such as lists of goals and faults. */
public final class Resource {
  private Resource() {}

  /**
   * @param name name relative to the class, or absolute on its class path
   * @throws IllegalStateException if there is no such file
   */
  public static String text(Class<?> owner, String name) {
    try (InputStream resource = owner.getResourceAsStream(name)) {
      if (resource == null) {
        throw new IllegalStateException(name + " is not on the class path");
      }
      return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("reading " + name + " failed", e);
    }
  }
}
