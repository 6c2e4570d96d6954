package dev.sluice.rdma.verbs.ibv;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.rdma.verbs.ffi.CCompiler;
import dev.sluice.rdma.verbs.ffi.Failure;
import dev.sluice.rdma.verbs.ffi.NativeFunction;
import dev.sluice.rdma.verbs.ffi.NativeLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.StringJoiner;

/** The functions of {@code inline_verbs.c}, compiled for a test. */
final class CInlineVerbs {
  private final NativeLibrary library;

  /**
   * @param directory where the library goes
   */
  CInlineVerbs(Path directory) throws IOException {
    try (InputStream source = CInlineVerbs.class.getResourceAsStream("inline_verbs.c")) {
      library =
          new CCompiler(directory)
              .library(new String(source.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  /** Calls a function with ints, longs and pointers. */
  int call(String function, Object... arguments) throws IOException {
    StringJoiner prototype = new StringJoiner(", ", function + "(", ")");
    MemoryLayout[] layouts = new MemoryLayout[arguments.length];
    for (int i = 0; i < arguments.length; i++) {
      prototype.add("argument" + i);
      layouts[i] =
          switch (arguments[i]) {
            case Integer _ -> JAVA_INT;
            case Long _ -> JAVA_LONG;
            default -> ADDRESS;
          };
    }
    return NativeFunction.exported(
            library, prototype.toString(), Failure.NONE, FunctionDescriptor.of(JAVA_INT, layouts))
        .call(arguments);
  }
}
