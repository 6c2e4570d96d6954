// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Finds the types of a binding that name C constants, by looking at all classes. */
public final class ConstantTypes {
  private ConstantTypes() {}

  /**
   * Returns enums of {@link CConstant}s, and interfaces with int constants.
   *
   * @param member a class of the package
   */
  public static List<Class<?>> inPackageOf(Class<?> member) throws IOException, URISyntaxException {
    Path classes = Path.of(member.getProtectionDomain().getCodeSource().getLocation().toURI());
    try (Stream<Path> files =
        Files.list(classes.resolve(member.getPackageName().replace('.', '/')))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".class") && !name.startsWith("package-info"))
          .<Class<?>>map(name -> load(member.getPackageName(), name))
          .filter(ConstantTypes::namesConstants)
          .toList();
    }
  }

  private static Class<?> load(String folder, String file) {
    try {
      return Class.forName(folder + "." + file.substring(0, file.lastIndexOf('.')));
    } catch (ClassNotFoundException e) {
      throw new AssertionError(e);
    }
  }

  private static boolean namesConstants(Class<?> type) {
    return type.isEnum() && CConstant.class.isAssignableFrom(type)
        || Stream.of(type.getDeclaredFields()).anyMatch(ConstantTypes::isConstant);
  }

  /** True if a field is a C constant. */
  static boolean isConstant(Field field) {
    return field.getType() == int.class
        && Modifier.isPublic(field.getModifiers())
        && Modifier.isStatic(field.getModifiers());
  }
}
