// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Writes the valid inputs of a fuzz target to a folder, as the start of bin/fuzz. */
public final class Corpus {
  private Corpus() {}

  /**
   * @param arguments the target's class, which has a static method {@code valid}, and the folder
   */
  public static void main(String[] arguments) throws ReflectiveOperationException, IOException {
    Path folder = Files.createDirectories(Path.of(arguments[1]));
    List<?> valid = (List<?>) Class.forName(arguments[0]).getMethod("valid").invoke(null);
    for (int i = 0; i < valid.size(); i++) {
      Files.write(folder.resolve("valid-" + i), (byte[]) valid.get(i));
    }
  }
}
