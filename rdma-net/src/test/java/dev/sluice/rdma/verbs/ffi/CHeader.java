package dev.sluice.rdma.verbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What Java takes a C header to say: C expressions with the values that they have in Java. A C
 * program says what values the compiler gives them.
 */
public final class CHeader {
  private final String name;
  private final Map<String, Long> expressions = new LinkedHashMap<>();

  /**
   * @param name as in {@code #include}
   */
  public CHeader(String name) {
    this.name = name;
  }

  /** A structure's size, and offset and size of each member. */
  public CHeader struct(CStruct type) {
    expect("sizeof(" + type.name() + ")", type.size());
    return members(type);
  }

  /** A structure whose newer versions have more at their end. */
  public CHeader structThatGrows(CStruct type) {
    expect("sizeof(" + type.name() + ") >= " + type.size(), 1);
    return members(type);
  }

  private CHeader members(CStruct type) {
    for (String member : type.members()) {
      // Without a name is what Java leaves out.
      if (!member.isEmpty()) {
        expect("offsetof(" + type.name() + ", " + member + ")", type.offset(member));
        memberSize(type, member);
      }
    }
    return this;
  }

  /** The size of a member. */
  public CHeader memberSize(CStruct type, String member) {
    return expect("sizeof(((" + type.name() + " *)0)->" + member + ")", type.size(member));
  }

  /** Where a member begins, counted back from the end of a structure that grows at its start. */
  public CHeader offsetFromEnd(CStruct type, String member) {
    return expect(
        "sizeof(" + type.name() + ") - offsetof(" + type.name() + ", " + member + ")",
        type.size() - type.offset(member));
  }

  /**
   * Constants: those of an enum, or the int constants of a class of flags.
   *
   * @param prefix before their names in C
   */
  public CHeader constants(Class<?> type, String prefix) throws IllegalAccessException {
    if (type.isEnum()) {
      for (Object constant : type.getEnumConstants()) {
        expect(prefix + ((Enum<?>) constant).name(), ((CConstant) constant).value());
      }
      return this;
    }
    for (Field field : type.getDeclaredFields()) {
      if (ConstantTypes.isConstant(field)) {
        expect(prefix + field.getName(), field.getInt(null));
      }
    }
    return this;
  }

  private CHeader expect(String expression, long value) {
    expressions.put(expression, value);
    return this;
  }

  /** Compiles the program, runs it, and compares each value. */
  public void assertAgrees(CCompiler compiler) throws IOException {
    List<String> values = compiler.outputOf(program());
    assertThat(values).hasSameSizeAs(expressions.keySet());
    List<String> differences = new ArrayList<>();
    int line = 0;
    for (Map.Entry<String, Long> expected : expressions.entrySet()) {
      long inC = Long.parseLong(values.get(line++));
      if (inC != expected.getValue()) {
        differences.add(expected.getKey() + " is " + inC + ", in Java " + expected.getValue());
      }
    }
    assertThat(differences).isEmpty();
  }

  private String program() {
    StringBuilder program = new StringBuilder();
    program.append("#include <stddef.h>\n#include <stdio.h>\n#include <").append(name);
    program.append(">\nint main(void) {\n");
    for (String expression : expressions.keySet()) {
      program.append("  printf(\"%lld\\n\", (long long)(").append(expression).append("));\n");
    }
    return program.append("  return 0;\n}\n").toString();
  }
}
