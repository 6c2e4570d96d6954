// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.ffi.CCompiler;
import dev.sluice.verbs.ffi.Failure;
import dev.sluice.verbs.ffi.NativeFunction;
import dev.sluice.verbs.ffi.NativeLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.StringJoiner;

/** The functions of a C source next to this class, compiled for a test. */
final class CInlineVerbs {
  private final NativeLibrary library;

  /**
   * @param directory output directory of the library
   * @param source name of the C file
   */
  CInlineVerbs(Path directory, String source) throws IOException {
    try (InputStream input = CInlineVerbs.class.getResourceAsStream(source)) {
      library =
          new CCompiler(directory)
              .library(new String(input.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  /** Calls a function with ints, longs and pointers. */
  int call(String function, Object... arguments) throws IOException {
    StringJoiner declaration = new StringJoiner(", ", "int " + function + "(", ")");
    for (Object argument : arguments) {
      declaration.add(
          switch (argument) {
            case Integer _ -> "int argument";
            case Long _ -> "long argument";
            default -> "ptr argument";
          });
    }
    return NativeFunction.exported(library, declaration.toString(), Failure.NONE).call(arguments);
  }
}
