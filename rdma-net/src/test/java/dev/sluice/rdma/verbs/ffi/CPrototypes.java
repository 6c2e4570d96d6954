package dev.sluice.rdma.verbs.ffi;

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
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The functions that a C header declares, to compare with those that Java links. */
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

  private final String declarations;

  /**
   * @param header as in {@code #include}
   */
  public CPrototypes(String header) throws IOException {
    declarations = CCompiler.preprocessed(header);
  }

  /** Compares number and kinds of the parameters, and the kind of the result. */
  public void assertDeclares(NativeFunction function) {
    Pattern declaration =
        Pattern.compile("([\\w\\s*]*[\\s*])" + function.name() + "\\s*\\(([^)]*)\\)\\s*;");
    Matcher found = declaration.matcher(declarations);
    assertThat(found.find()).as("there is %s", function.name()).isTrue();
    assertThat(function.descriptor())
        .as(found.group().strip())
        .isEqualTo(descriptor(found.group(1).strip(), found.group(2).strip()));
  }

  /** Whether the library has it. */
  public static void assertExported(NativeLibrary library, NativeFunction function) {
    assertThat(library.symbol(function.name()).address()).isNotZero();
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
