// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.Gid;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Generates docs/verbs-functions.md from the binding's declarations and from the list of reasons
 * for unbound functions. Fails if the document is stale. Each function that a library exports or a
 * header defines inline must be bound or have a reason.
 */
@EnabledForJreRange(
    minVersion = 24,
    disabledReason = "it reads class files by an API that is final from JDK 24 on")
class FunctionsDocumentTest {
  private static final Path MODULE = Path.of(System.getProperty("sluice.basedir", "."));
  private static final Path DOCUMENT = MODULE.resolve("../docs/verbs-functions.md");
  private static final Path LIST =
      MODULE.resolve("src/test/resources/dev/sluice/verbs/ffi/unbound-functions.txt");

  private static final Pattern INLINE =
      Pattern.compile("static inline [^;{(]*[ *]((?:__)?(?:ibv|rdma)_\\w+) ?\\(");

  /** Symbol version of functions that only rdma-core's own drivers call. */
  private static final Pattern OF_DRIVERS = Pattern.compile("IBVERBS_PRIVATE_\\d+");

  private final JavaCalls calls;

  /** Functions linked by name, with the Java methods that call them. */
  private final Map<String, Set<String>> linked = new TreeMap<>();

  /** Reasons by their keys in the list. */
  private final Map<String, String> reasons = new LinkedHashMap<>();

  /** Inline functions of C headers. */
  private final Set<String> inline = new TreeSet<>();

  /** The rest of the list: function names with the key of a reason, or with a Java method. */
  private final Map<String, String> listed = new TreeMap<>();

  FunctionsDocumentTest() throws Exception {
    calls = new JavaCalls(Gid.class);
    for (String name : calls.classNames("ibv", "cm")) {
      for (Field field :
          Class.forName(name, false, Gid.class.getClassLoader()).getDeclaredFields()) {
        if (CFunction.class.isAssignableFrom(field.getType())
            && Modifier.isStatic(field.getModifiers())) {
          field.setAccessible(true);
          String constant = field.getDeclaringClass().getSimpleName() + "." + field.getName();
          linked
              .computeIfAbsent(nativeFunction(field.get(null)).name(), unused -> new TreeSet<>())
              .addAll(calls.reachedBy(constant));
        }
      }
    }
    for (String line : Files.readAllLines(LIST)) {
      if (line.startsWith("reason ")) {
        String[] parts = line.substring("reason ".length()).split(": ", 2);
        reasons.put(parts[0], parts[1]);
      } else if (line.startsWith("inline ")) {
        inline.addAll(List.of(line.substring("inline ".length()).split(" ")));
      } else if (!line.isBlank() && !line.startsWith("#")) {
        String[] parts = line.split(" ", 2);
        listed.put(parts[0], parts[1]);
      }
    }
  }

  private static NativeFunction nativeFunction(Object function)
      throws ReflectiveOperationException {
    if (function instanceof NativeFunction itself) {
      return itself;
    }
    Field field = function.getClass().getDeclaredField("function");
    field.setAccessible(true);
    return (NativeFunction) field.get(function);
  }

  @Test
  void theDocumentIsThatOfTheBinding() throws IOException {
    if (Boolean.getBoolean("sluice.docs.write")) {
      removeBoundFromList();
      Files.writeString(DOCUMENT, text());
    }
    assertThat(DOCUMENT).hasContent(text());
  }

  @Test
  void everyLinkedFunctionIsCalled() {
    assertThat(linked).allSatisfy((name, methods) -> assertThat(methods).as(name).isNotEmpty());
  }

  @Test
  void theListNamesReasonsAndMethodsThatAreThere() {
    assertThat(listed)
        .allSatisfy(
            (name, value) ->
                assertThat(reasons.containsKey(value) || calls.isPublic(value))
                    .as("%s: %s is a reason or a public method", name, value)
                    .isTrue());
    assertThat(listed.values()).as("each reason is used").containsAll(reasons.keySet());
  }

  @Test
  void noBoundFunctionHasAReason() {
    List<String> bound =
        listed.keySet().stream()
            .filter(name -> hasReason(name) && !methods(name).isEmpty())
            .toList();
    assertThat(bound).as("take these lines out of %s", LIST).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("dev.sluice.verbs.ffi.CHeaders#all")
  void everyExportedFunctionIsInTheTable(CHeaders release) throws IOException {
    Assumptions.assumeTrue(release.isKnown(), "the list knows no newer releases");
    for (String soname : List.of("libibverbs.so.1", "librdmacm.so.1")) {
      for (Path library : release.libraries(soname).toList()) {
        List<String> exported = exported(library);
        assertThat(exported).as("functions of %s", library).hasSizeGreaterThan(40);
        assertThat(names()).as("of %s", library).containsAll(exported);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("dev.sluice.verbs.ffi.CHeaders#all")
  @NeedsCHeader("rdma/rdma_verbs.h")
  void everyInlineFunctionIsInTheTable(CHeaders release) throws IOException {
    Assumptions.assumeTrue(release.isKnown(), "the list knows no newer releases");
    List<String> defined = inline(release);
    assertThat(defined).hasSizeGreaterThan(80);
    assertThat(inline).as("the lines \"inline\" of the list").containsAll(defined);
  }

  @Test
  void everyFunctionIsBoundOrHasAReason() {
    assertThat(names())
        .filteredOn(name -> methods(name).isEmpty() && !hasReason(name))
        .as("functions that are neither bound nor in %s", LIST)
        .isEmpty();
  }

  /** Returns the functions that a library exports, without those for drivers. */
  private static List<String> exported(Path library) throws IOException {
    String symbols;
    try {
      symbols = CCompiler.checked("nm", "-D", "--defined-only", library.toString());
    } catch (IOException e) {
      return Assumptions.abort("the functions of libraries are not compared: " + e.getMessage());
    }
    List<String> names = new ArrayList<>();
    for (String line : symbols.lines().toList()) {
      String[] parts = line.split(" ");
      String[] symbol = parts[2].split("@+");
      if (parts[1].equals("T") && !OF_DRIVERS.matcher(symbol[1]).matches()) {
        names.add(symbol[0]);
      }
    }
    return names;
  }

  private static List<String> inline(CHeaders release) throws IOException {
    List<String> names = new ArrayList<>();
    String source = CCompiler.preprocessed(release, "rdma/rdma_verbs.h").replaceAll("\\s+", " ");
    Matcher function = INLINE.matcher(source);
    while (function.find()) {
      names.add(function.group(1));
    }
    return names;
  }

  private Set<String> names() {
    Set<String> names = new TreeSet<>(linked.keySet());
    names.addAll(listed.keySet());
    names.addAll(inline);
    return names;
  }

  /** Returns the public methods that call an exported or inline function; none if unbound. */
  private Set<String> methods(String name) {
    if (calls.isPublic(listed.getOrDefault(name, ""))) {
      return Set.of(listed.get(name));
    }
    Set<String> found = new TreeSet<>(linked.getOrDefault(name, Set.of()));
    if (inline.contains(name)) {
      for (String candidate : calls.methods()) {
        if (isNamedAfter(name, candidate)) {
          found.addAll(calls.reachedBy(candidate));
        }
      }
    }
    return found;
  }

  /** True if a Java method of the same library has the name of an inline function. */
  private static boolean isNamedAfter(String name, String method) {
    String words = name.replaceFirst("^_*(ibv|rdma)_", "");
    return method.startsWith("Rdma") == name.startsWith("rdma_")
        && (method.endsWith("." + camelCase(words))
            || method.endsWith("Ex." + camelCase(words.replaceFirst("^(wr|wc)_", ""))));
  }

  private static String camelCase(String words) {
    String[] parts = words.split("_");
    StringBuilder result = new StringBuilder(parts[0]);
    for (String part : Arrays.asList(parts).subList(1, parts.length)) {
      result.append(Character.toUpperCase(part.charAt(0))).append(part.substring(1));
    }
    return result.toString();
  }

  private void removeBoundFromList() throws IOException {
    List<String> kept = new ArrayList<>();
    for (String line : Files.readAllLines(LIST)) {
      String name = line.split(" ", 2)[0];
      if (hasReason(name) && !methods(name).isEmpty()) {
        listed.remove(name);
      } else {
        kept.add(line);
      }
    }
    Files.write(LIST, kept);
  }

  private boolean hasReason(String name) {
    return reasons.containsKey(listed.getOrDefault(name, ""));
  }

  private String text() {
    StringBuilder out =
        new StringBuilder(
            """
            # Functions of libibverbs and librdmacm

            Generated by `FunctionsDocumentTest` from what `dev.sluice.verbs` declares and from its list of reasons; do
            not edit. The second column has the public Java methods that call the function, or the reason why it is not
            bound. Functions of newer releases of rdma-core are here as well: where the library of a machine lacks one,
            Java throws ENOSYS. Functions of the version `IBVERBS_PRIVATE` are for drivers inside rdma-core and left out.

            """);
    table(out, "libibverbs: exported functions", true, "ibv");
    table(out, "libibverbs: inline functions of verbs.h", false, "ibv");
    table(out, "librdmacm: exported functions", true, "rdma");
    table(out, "librdmacm: inline functions of rdma_verbs.h", false, "rdma");
    return out.toString().stripTrailing() + "\n";
  }

  private void table(StringBuilder out, String title, boolean exported, String library) {
    out.append("## %s\n\n| Function | Java, or why not |\n| --- | --- |\n".formatted(title));
    for (String name : names()) {
      if (inline.contains(name) != exported && name.contains("ibv_") == library.equals("ibv")) {
        Set<String> methods = methods(name);
        out.append(
            "| `%s` | %s |\n"
                .formatted(
                    name,
                    methods.isEmpty()
                        ? reasons.get(listed.get(name))
                        : "`" + String.join("`, `", methods) + "`"));
      }
    }
    out.append('\n');
  }
}
