// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Functions that a C header declares, for comparison with the functions that Java links. */
public final class CPrototypes {
  private static final Map<String, MemoryLayout> TYPES =
      Map.ofEntries(
          Map.entry("uint8_t", JAVA_BYTE),
          Map.entry("uint16_t", JAVA_SHORT),
          Map.entry("__be16", JAVA_SHORT),
          Map.entry("int", JAVA_INT),
          Map.entry("uint32_t", JAVA_INT),
          Map.entry("unsigned int", JAVA_INT),
          Map.entry("uint64_t", JAVA_LONG),
          Map.entry("__be64", JAVA_LONG),
          Map.entry("size_t", JAVA_LONG),
          Map.entry("ssize_t", JAVA_LONG));

  private final CHeaders headers;
  private final String declarations;

  /**
   * @param header as in {@code #include}
   */
  public CPrototypes(CHeaders headers, String header) throws IOException {
    this.headers = headers;
    declarations =
        CCompiler.preprocessed(headers, header).replaceAll("__attribute__\\s*\\(\\(\\w+\\)\\)", "");
  }

  /** Compares as {@link #assertDeclares(NativeFunction, Set)}; complete releases lack none. */
  public void assertDeclares(NativeFunction function) throws IOException {
    assertDeclares(function, Set.of());
  }

  /**
   * Compares number and kinds of the parameters, and the kind of the result. A release that is
   * older than the binding may lack the function, and any release may lack those in {@code newer}.
   */
  public void assertDeclares(NativeFunction function, Set<String> newer) throws IOException {
    Pattern declaration =
        Pattern.compile("([\\w\\s*]*[\\s*])" + function.name() + "\\s*\\(([^)]*)\\)\\s*;");
    Matcher found = declaration.matcher(declarations);
    if (!found.find()) {
      assertThat(headers.isComplete() && !newer.contains(function.name()))
          .as("%s lacks %s", headers, function.name())
          .isFalse();
      return;
    }
    assertThat(function.descriptor())
        .as(found.group().strip())
        .isEqualTo(descriptor(found.group(1).strip(), found.group(2).strip()));
  }

  /** Checks that the library exports the function. */
  public static void assertExported(NativeLibrary library, NativeFunction function) {
    assertThat(library.symbol(function.name()).address()).isNotZero();
  }

  /** Checks as {@link #assertExported}, but any library may lack the functions in {@code newer}. */
  public static void assertExported(
      NativeLibrary library, NativeFunction function, Set<String> newer) {
    if (!newer.contains(function.name())) {
      assertExported(library, function);
    }
  }

  private static FunctionDescriptor descriptor(String result, String parameters) {
    MemoryLayout[] layouts =
        parameters.equals("void")
            ? new MemoryLayout[0]
            : Arrays.stream(parameters.split(","))
                .map(CPrototypes::withoutName)
                .map(CPrototypes::layout)
                .toArray(MemoryLayout[]::new);
    return result.equals("void")
        ? FunctionDescriptor.ofVoid(layouts)
        : FunctionDescriptor.of(layout(result), layouts);
  }

  private static String withoutName(String parameter) {
    return parameter.strip().replaceFirst("\\w+$", "").strip();
  }

  private static MemoryLayout layout(String type) {
    if (type.endsWith("*")) {
      return ADDRESS;
    }
    if (type.startsWith("enum ")) {
      return JAVA_INT;
    }
    assertThat(TYPES).containsKey(type);
    return TYPES.get(type);
  }
}
