// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.alone;

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;

/**
 * Starts the doctor from the drop-in jar alone, which has our classes only. This class loader loads
 * them, and makes the two classes of SLF4J that they need: a Logger that is a {@link Log}, and a
 * LoggerFactory that makes it. {@code dev.sluice.doctor.Main} calls {@link #main} on the main
 * thread; threads of the doctor load classes. It stays open until the process ends.
 */
public final class AloneLoader extends URLClassLoader {
  private static final ClassDesc LOGGER = ClassDesc.of("org.slf4j.Logger");
  private static final ClassDesc FACTORY = ClassDesc.of("org.slf4j.LoggerFactory");
  private static final MethodTypeDesc GET_LOGGER =
      MethodTypeDesc.of(LOGGER, ConstantDescs.CD_Class);

  /**
   * @param args arguments of {@link CommandLine}
   */
  public static void main(String[] args) throws ReflectiveOperationException {
    // Not closed: threads that hang may still need it.
    AloneLoader loader =
        new AloneLoader(AloneLoader.class.getProtectionDomain().getCodeSource().getLocation());
    try {
      loader
          .loadClass("dev.sluice.doctor.alone.CommandLine")
          .getMethod("main", String[].class)
          .invoke(null, (Object) args);
    } catch (InvocationTargetException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  /**
   * @param jar jar with our classes
   */
  AloneLoader(URL jar) {
    super("doctor", new URL[] {jar}, ClassLoader.getPlatformClassLoader());
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    return switch (name) {
      case "org.slf4j.Logger" -> define(name, logger());
      case "org.slf4j.LoggerFactory" -> define(name, factory());
      default -> super.findClass(name);
    };
  }

  private Class<?> define(String name, byte[] bytes) {
    return defineClass(name, bytes, 0, bytes.length);
  }

  /** Makes {@code public interface Logger extends Log {}}. */
  private static byte[] logger() {
    return ClassFile.of()
        .build(
            LOGGER,
            type ->
                type.withFlags(
                        ClassFile.ACC_PUBLIC | ClassFile.ACC_INTERFACE | ClassFile.ACC_ABSTRACT)
                    .withInterfaceSymbols(ClassDesc.of(Log.class.getName())));
  }

  /**
   * Makes the factory, which is itself the logger: {@code public static Logger getLogger(Class c) {
   * return new ...; }}.
   */
  private static byte[] factory() {
    return ClassFile.of()
        .build(
            FACTORY,
            type ->
                type.withFlags(ClassFile.ACC_PUBLIC)
                    .withInterfaceSymbols(LOGGER)
                    .withMethodBody(
                        ConstantDescs.INIT_NAME,
                        ConstantDescs.MTD_void,
                        0,
                        code ->
                            code.aload(0)
                                .invokespecial(
                                    ConstantDescs.CD_Object,
                                    ConstantDescs.INIT_NAME,
                                    ConstantDescs.MTD_void)
                                .return_())
                    .withMethodBody(
                        "getLogger",
                        GET_LOGGER,
                        ClassFile.ACC_PUBLIC | ClassFile.ACC_STATIC,
                        code ->
                            code.new_(FACTORY)
                                .dup()
                                .invokespecial(
                                    FACTORY, ConstantDescs.INIT_NAME, ConstantDescs.MTD_void)
                                .areturn()));
  }
}
