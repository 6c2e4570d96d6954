// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.FieldRefEntry;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.constant.ConstantDescs;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Checks whether all that a class names is on this JVM's class path, looked up as the JVM does. */
final class Linkage {
  private final Map<String, Optional<ClassModel>> classes = new HashMap<>();

  /**
   * Describes each missing class, field or method.
   *
   * @param bytes of a class file
   */
  List<String> missing(byte[] bytes) {
    ClassModel model = ClassFile.of().parse(bytes);
    List<String> missing = new ArrayList<>();
    for (PoolEntry entry : model.constantPool()) {
      if (!isThere(entry)) {
        missing.add(model.thisClass().asInternalName() + " needs " + words(entry));
      }
    }
    return missing;
  }

  private boolean isThere(PoolEntry entry) {
    return switch (entry) {
      case MemberRefEntry member when isOfAnother(member.owner()) -> find(member);
      case ClassEntry type when isOfAnother(type) -> find(type.asInternalName()).isPresent();
      default -> true;
    };
  }

  /**
   * Classes of the JDK are skipped: the compiler has checked them, and some of their methods accept
   * any descriptor.
   */
  private static boolean isOfAnother(ClassEntry type) {
    return !type.asSymbol().isArray() && !type.asInternalName().startsWith("java/");
  }

  private static String words(PoolEntry entry) {
    return switch (entry) {
      case MemberRefEntry member ->
          "%s.%s%s".formatted(member.owner().asInternalName(), member.name(), member.type());
      case ClassEntry type -> type.asInternalName();
      default -> entry.toString();
    };
  }

  private boolean find(MemberRefEntry member) {
    boolean inherits = !member.name().equalsString(ConstantDescs.INIT_NAME);
    Stream<ClassModel> places =
        inherits
            ? hierarchy(member.owner().asInternalName())
            : find(member.owner().asInternalName()).stream();
    return places.anyMatch(place -> declares(place, member));
  }

  private static boolean declares(ClassModel place, MemberRefEntry member) {
    return member instanceof FieldRefEntry
        ? place.fields().stream()
            .anyMatch(
                field ->
                    field.fieldName().equals(member.name())
                        && field.fieldType().equals(member.type()))
        : place.methods().stream()
            .anyMatch(
                method ->
                    method.methodName().equals(member.name())
                        && method.methodType().equals(member.type()));
  }

  /** A class and all that it inherits from. */
  private Stream<ClassModel> hierarchy(String name) {
    return find(name).stream()
        .flatMap(
            model ->
                Stream.concat(
                    Stream.of(model),
                    Stream.concat(model.superclass().stream(), model.interfaces().stream())
                        .flatMap(parent -> hierarchy(parent.asInternalName()))));
  }

  private Optional<ClassModel> find(String name) {
    return classes.computeIfAbsent(name, Linkage::read);
  }

  private static Optional<ClassModel> read(String name) {
    try (InputStream in = ClassLoader.getSystemResourceAsStream(name + ".class")) {
      return in == null ? Optional.empty() : Optional.of(ClassFile.of().parse(in.readAllBytes()));
    } catch (IOException e) {
      throw new IllegalStateException(name, e);
    }
  }
}
