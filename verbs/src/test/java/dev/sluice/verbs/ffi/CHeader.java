// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * C expressions with the values that Java expects. The compiler writes each value into its
 * assembly, so the values of other architectures can be checked as well.
 */
public final class CHeader {
  /** Line of the first expression in the program. */
  private static final int FIRST_LINE = 3;

  private static final Pattern VALUE = Pattern.compile("-> (.*) is (-?\\d+) <-");

  private final String name;
  private final List<Expectation> expectations = new ArrayList<>();
  private final Set<String> newer = new HashSet<>();

  /**
   * @param type the structure that the expression refers to; empty for a constant
   * @param size true if the expression is the size of the whole structure
   */
  private record Expectation(String expression, long value, String type, boolean size) {}

  /**
   * @param name as in {@code #include}
   */
  public CHeader(String name) {
    this.name = name;
  }

  /** Names constants, expressions and whole structures that even complete releases may lack. */
  public CHeader newer(Set<String> names) {
    newer.addAll(names);
    return this;
  }

  /** Expects a structure's size, and offset and size of each member. */
  public CHeader struct(CStruct type) {
    expectSize(type, "sizeof(" + type.name() + ")", type.size());
    return members(type);
  }

  /** Expects a structure whose newer versions have more members at the end. */
  public CHeader structThatGrows(CStruct type) {
    expectSize(type, "sizeof(" + type.name() + ") >= " + type.size(), 1);
    return members(type);
  }

  private CHeader members(CStruct type) {
    for (String member : type.members()) {
      // Java omits members without a name.
      if (!member.isEmpty()) {
        expect(type, "offsetof(" + type.name() + ", " + member + ")", type.offset(member));
        memberSize(type, member);
      }
    }
    return this;
  }

  /** Expects the size of a member. */
  public CHeader memberSize(CStruct type, String member) {
    return expect(type, "sizeof(((" + type.name() + " *)0)->" + member + ")", type.size(member));
  }

  /** Expects a member's offset from the end of a structure that grows at its start. */
  public CHeader offsetFromEnd(CStruct type, String member) {
    return expect(
        type,
        "sizeof(" + type.name() + ") - offsetof(" + type.name() + ", " + member + ")",
        type.size() - type.offset(member));
  }

  /**
   * Expects the constants of an enum, or the int constants of a class of flags.
   *
   * @param prefix prefix of their names in C
   */
  public CHeader constants(Class<?> type, String prefix) throws IllegalAccessException {
    if (type.isEnum()) {
      for (Object constant : type.getEnumConstants()) {
        constant(prefix + ((Enum<?>) constant).name(), ((CConstant) constant).value());
      }
      return this;
    }
    for (Field field : type.getDeclaredFields()) {
      if (ConstantTypes.isConstant(field)) {
        constant(prefix + field.getName(), field.getInt(null));
      }
    }
    return this;
  }

  private void constant(String name, long value) {
    expectations.add(new Expectation(name, value, "", false));
  }

  private void expectSize(CStruct type, String expression, long value) {
    expectations.add(new Expectation(expression, value, type.name(), true));
  }

  private CHeader expect(CStruct type, String expression, long value) {
    expectations.add(new Expectation(expression, value, type.name(), false));
    return this;
  }

  /** Compares each value with the installed header. */
  public void assertAgrees(CCompiler compiler) throws IOException {
    assertAgrees(compiler, CHeaders.INSTALLED);
  }

  /**
   * Compares each value with a release's header. A release that is older than the binding may lack
   * names. If it lacks members of a structure, the structure's size is not compared.
   */
  public void assertAgrees(CCompiler compiler, CHeaders headers) throws IOException {
    List<Expectation> known = new ArrayList<>(expectations);
    List<Expectation> missing = new ArrayList<>();
    CCompiler.Assembly assembly = compiler.assembly(program(known), headers);
    while (!assembly.wrongLines().isEmpty()) {
      List<Expectation> wrong = new ArrayList<>();
      for (int line : assembly.wrongLines()) {
        wrong.add(known.get(line - FIRST_LINE));
      }
      known.removeAll(wrong);
      missing.addAll(wrong);
      assembly = compiler.assembly(program(known), headers);
    }
    if (!missing.isEmpty()) {
      String lacks = "%s lacks %s".formatted(headers, expressions(missing));
      boolean allowed = missing.stream().allMatch(one -> isNewer(one, missing));
      assertThat(headers.isComplete() && !allowed).as(lacks).isFalse();
      assertThat(missing).as(lacks).hasSizeLessThan(expectations.size() / 2);
      System.out.println(lacks);
      known.removeIf(
          one -> one.size && missing.stream().anyMatch(member -> member.type.equals(one.type)));
    }
    Map<String, Long> values = values(assembly.text());
    List<String> differences = new ArrayList<>();
    for (Expectation one : known) {
      Long inC = values.get(one.expression);
      assertThat(inC).as(one.expression).isNotNull();
      if (inC != one.value) {
        differences.add(one.expression + " is " + inC + ", in Java " + one.value);
      }
    }
    assertThat(differences).as("%s, %s", headers, CCompiler.FOR_OS_ARCH).isEmpty();
  }

  /**
   * True if any release may lack the expression. It may lack a whole structure, but then all of it.
   */
  private boolean isNewer(Expectation one, List<Expectation> missing) {
    return newer.contains(one.expression)
        || newer.contains(one.type)
            && expectations.stream()
                .filter(other -> other.type.equals(one.type))
                .allMatch(missing::contains);
  }

  private static List<String> expressions(List<Expectation> expectations) {
    return expectations.stream().map(Expectation::expression).toList();
  }

  private static Map<String, Long> values(String assembly) {
    Map<String, Long> values = new HashMap<>();
    Matcher value = VALUE.matcher(assembly);
    while (value.find()) {
      values.put(value.group(1), Long.valueOf(value.group(2)));
    }
    return values;
  }

  /** Makes a function of each expression: the compiler reports a missing name once a function. */
  private String program(List<Expectation> known) {
    StringBuilder program = new StringBuilder("#include <stddef.h>\n#include <" + name + ">\n");
    for (int i = 0; i < known.size(); i++) {
      program.append(
          "void f%d(void) { __asm__(\"-> %2$s is %%c0 <-\" : : \"i\"((long long)(%2$s))); }\n"
              .formatted(i, known.get(i).expression));
    }
    return program.toString();
  }
}
