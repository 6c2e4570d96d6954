// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import java.io.IOException;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ConstantDesc;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.reflect.AccessFlag;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Call graph of the compiled binding: the public methods through which a caller reaches a constant
 * or a method. Overloads are one node, named {@code Class.method}.
 */
final class JavaCalls {
  private static final String ROOT = "dev/sluice/verbs/";

  /** For each method or constant, the methods that use it. */
  private final Map<String, Set<String>> users = new HashMap<>();

  private final Set<String> methods = new TreeSet<>();
  private final Set<String> publicMethods = new HashSet<>();
  private final Path classes;

  /** Maps a hidden base class with a single subclass to that subclass. */
  private final Map<String, String> heirs = new HashMap<>();

  /** Reads the classes in the same location as the given class. */
  JavaCalls(Class<?> one) throws IOException, URISyntaxException {
    classes = Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
    List<ClassModel> types = new ArrayList<>();
    for (Path file : classFiles("ibv", "cm")) {
      types.add(ClassFile.of().parse(file));
    }
    types.forEach(this::readHeir);
    types.forEach(this::read);
  }

  /** Returns the names of the classes in packages of the binding. */
  List<String> classNames(String... packages) throws IOException {
    return classFiles(packages).stream()
        .map(file -> classes.relativize(file).toString().replace(".class", "").replace('/', '.'))
        .filter(name -> !name.endsWith("package-info"))
        .toList();
  }

  private List<Path> classFiles(String... packages) throws IOException {
    try (Stream<Path> files =
        Stream.of(packages).flatMap(name -> list(classes.resolve(ROOT + name)))) {
      return files.filter(file -> file.toString().endsWith(".class")).sorted().toList();
    }
  }

  private static Stream<Path> list(Path folder) {
    try {
      return Files.list(folder);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Records a hidden base class. To a caller, its methods belong to the subclass. */
  private void readHeir(ClassModel type) {
    if (!type.flags().has(AccessFlag.PUBLIC)) {
      type.findAttribute(Attributes.permittedSubclasses())
          .filter(subclasses -> subclasses.permittedSubclasses().size() == 1)
          .ifPresent(
              subclasses ->
                  heirs.put(
                      type.thisClass().asInternalName(),
                      subclasses.permittedSubclasses().getFirst().asInternalName()));
    }
  }

  private void read(ClassModel type) {
    boolean isPublic =
        type.flags().has(AccessFlag.PUBLIC) || heirs.containsKey(type.thisClass().asInternalName());
    String name = shortName(type.thisClass().asInternalName());
    for (MethodModel method : type.methods()) {
      String node = name + "." + method.methodName().stringValue();
      methods.add(node);
      if (isPublic && method.flags().has(AccessFlag.PUBLIC)) {
        publicMethods.add(node);
      }
      method.code().ifPresent(code -> code.forEach(element -> use(node, element)));
    }
  }

  private void use(String user, Object element) {
    switch (element) {
      case FieldInstruction field
          when field.owner().asInternalName().matches(".*/Lib(Ibverbs|Rdmacm)")
              || field.typeSymbol().descriptorString().endsWith("/NativeFunction;") ->
          // A constructor passes on the function that destroys the object.
          add(
              field.owner().asInternalName(),
              field.name().stringValue(),
              user.replace(".<init>", ".destroy"));
      case InvokeInstruction call ->
          add(call.owner().asInternalName(), call.name().stringValue(), user);
      case InvokeDynamicInstruction dynamic -> {
        for (ConstantDesc argument : dynamic.bootstrapArgs()) {
          if (argument instanceof DirectMethodHandleDesc method) {
            String owner = method.owner().descriptorString();
            add(owner.substring(1, owner.length() - 1), method.methodName(), user);
          }
        }
      }
      default -> {}
    }
  }

  private void add(String owner, String member, String user) {
    if (owner.startsWith(ROOT)) {
      String node = shortName(owner) + "." + member;
      if (!node.equals(user)) {
        users.computeIfAbsent(node, unused -> new TreeSet<>()).add(user);
      }
    }
  }

  private String shortName(String className) {
    String internalName = className;
    while (heirs.containsKey(internalName)) {
      internalName = heirs.get(internalName);
    }
    return internalName.substring(internalName.lastIndexOf('/') + 1).replace('$', '.');
  }

  /** All methods. */
  Collection<String> methods() {
    return methods;
  }

  /** True if a class has a public method; each object has {@code close} from a base class. */
  boolean isPublic(String method) {
    return publicMethods.contains(method)
        || method.endsWith(".close") && methods.contains(method.replace(".close", ".<init>"));
  }

  /** Returns the public methods that use a constant or a method, directly or indirectly. */
  Set<String> reachedBy(String node) {
    Set<String> reached = new TreeSet<>();
    follow(node, new HashSet<>(), reached);
    return reached;
  }

  private void follow(String node, Set<String> seen, Set<String> reached) {
    if (publicMethods.contains(node)) {
      reached.add(node);
    } else if (node.endsWith(".destroy")) {
      reached.add(node.replace(".destroy", ".close"));
    } else {
      for (String user : users.getOrDefault(node, Set.of())) {
        if (seen.add(user)) {
          follow(user, seen, reached);
        }
      }
    }
  }
}
