// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.TypeKind;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.FieldRefEntry;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** Checks whether all that a class names is there, looked up as the JVM does. */
final class Linkage {
  /** Methods that accept any descriptor (JVMS 2.9.3). */
  private static final Set<String> POLYMORPHIC =
      Set.of("java/lang/invoke/MethodHandle", "java/lang/invoke/VarHandle");

  /** Offset of the major version in a class file. */
  private static final int MAJOR_VERSION = 6;

  private final Predicate<String> checked;
  private final Function<String, Optional<byte[]>> source;
  private final Map<String, Optional<ClassModel>> classes = new HashMap<>();

  private Linkage(Predicate<String> checked, Function<String, Optional<byte[]>> source) {
    this.checked = checked;
    this.source = source;
  }

  /** Checks against this JVM's class path, except classes of the JDK, as the compiler has. */
  static Linkage toClassPath() {
    return new Linkage(name -> !name.startsWith("java/"), Linkage::onClassPath);
  }

  /**
   * Checks against {@code java.base} of a release that this JDK can compile for.
   *
   * @param release from 21 to this JDK's
   */
  static Linkage toJdk(int release) throws IOException {
    Map<String, byte[]> signatures = new HashMap<>();
    // Signatures of each release, in folders that are named after all releases that have them
    // (JEP 247). Digits and letters are the releases from 0 on.
    char digit = Character.toUpperCase(Character.forDigit(release, Character.MAX_RADIX));
    try (ZipFile file =
        new ZipFile(Path.of(System.getProperty("java.home"), "lib", "ct.sym").toFile())) {
      for (ZipEntry entry : Collections.list(file.entries())) {
        String[] path = entry.getName().split("/", 3);
        if (path.length == 3
            && path[0].indexOf(digit) >= 0
            && path[1].equals("java.base")
            && path[2].endsWith(".sig")) {
          signatures.put(path[2].replace(".sig", ""), file.getInputStream(entry).readAllBytes());
        }
      }
    }
    return inJavaBase(name -> Optional.ofNullable(signatures.get(name)));
  }

  /**
   * Checks against {@code java.base} of another JDK.
   *
   * @param files the JDK's files, by the file system {@code jrt}
   */
  static Linkage toJdk(FileSystem files) {
    Path base = files.getPath("modules", "java.base");
    return inJavaBase(
        name -> {
          Path file = base.resolve(name + ".class");
          try {
            return Files.exists(file) ? Optional.of(readable(file)) : Optional.empty();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  /** Reads a class file, and gives it this JDK's version, as later ones are refused. */
  private static byte[] readable(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    ByteBuffer.wrap(bytes).putShort(MAJOR_VERSION, (short) ClassFile.latestMajorVersion());
    return bytes;
  }

  private static Linkage inJavaBase(Function<String, Optional<byte[]>> source) {
    // Other modules have packages such as java/sql, and java.base has all of those below.
    return new Linkage(
        name ->
            name.matches("java/(io|lang|math|net|nio|security|text|time|util)/.*")
                && !name.matches(
                    "java/lang/(management|instrument)/.*|java/util/(logging|prefs)/.*")
                && !name.startsWith("java/net/http/"),
        source);
  }

  /**
   * Makes a class that calls a method, as if that were static.
   *
   * @param signature the method's result and parameters, without the object that it belongs to
   */
  static byte[] classThatCalls(String owner, String method, MethodType signature) {
    MethodTypeDesc type = signature.describeConstable().orElseThrow();
    return ClassFile.of()
        .build(
            ClassDesc.of("dev.sluice.Example"),
            example ->
                example.withMethodBody(
                    "call",
                    type,
                    ClassFile.ACC_STATIC,
                    code -> {
                      for (int i = 0; i < type.parameterCount(); i++) {
                        code.loadLocal(TypeKind.from(type.parameterType(i)), code.parameterSlot(i));
                      }
                      code.invokestatic(ClassDesc.of(owner), method, type)
                          .return_(TypeKind.from(type.returnType()));
                    }));
  }

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

  private boolean isOfAnother(ClassEntry type) {
    return !type.asSymbol().isArray() && checked.test(type.asInternalName());
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
    if (POLYMORPHIC.contains(member.owner().asInternalName())) {
      return true;
    }
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
    return classes.computeIfAbsent(
        name, wanted -> source.apply(wanted).map(bytes -> ClassFile.of().parse(bytes)));
  }

  private static Optional<byte[]> onClassPath(String name) {
    try (InputStream in = ClassLoader.getSystemResourceAsStream(name + ".class")) {
      return in == null ? Optional.empty() : Optional.of(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(name, e);
    }
  }
}
