// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.alone;

import dev.sluice.doctor.Main;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Starts the doctor from the drop-in jar alone, which has our classes only. This class loader loads
 * them, and defines the two classes of SLF4J that they need, which are {@link AloneLogger} and
 * {@link AloneLoggerFactory} by SLF4J's names. {@code dev.sluice.doctor.Main} calls {@link #main}
 * on the main thread; threads of the doctor load classes. It stays open until the process ends.
 */
public final class AloneLoader extends URLClassLoader {
  private static final String OUR_LOGGER = AloneLogger.class.getName();
  private static final String LOGGER = "org.slf4j.Logger";

  /** Numbers of the kinds of constants in a class file (JVMS, table 4.4-A). */
  private static final int UTF8 = 1;

  private static final int LONG = 5;
  private static final int DOUBLE = 6;

  /**
   * @param args arguments of {@link CommandLine}
   */
  public static void main(String[] args) throws ReflectiveOperationException, IOException {
    List<URL> jars = new ArrayList<>();
    jars.add(AloneLoader.class.getProtectionDomain().getCodeSource().getLocation());
    if (args.length > 1 && args[1].equals(Main.QUALIFY)) {
      for (Path jar : EventLogJars.of(System.getenv())) {
        jars.add(jar.toUri().toURL());
      }
    }
    // Not closed: threads that hang may still need it.
    AloneLoader loader = new AloneLoader(jars.toArray(URL[]::new));
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
   * @param jars jar with our classes, and jars of Spark that they need
   */
  AloneLoader(URL... jars) {
    super("doctor", jars, ClassLoader.getPlatformClassLoader());
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    if (!name.startsWith(LOGGER)) {
      return super.findClass(name);
    }
    String ours = name.replace(LOGGER, OUR_LOGGER).replace('.', '/') + ".class";
    try (InputStream file = getResourceAsStream(ours)) {
      if (file == null) {
        throw new ClassNotFoundException(name);
      }
      byte[] bytes = renamed(file);
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  /** Returns a class file with SLF4J's names instead of ours among its constants. */
  private static byte[] renamed(InputStream file) throws IOException {
    DataInputStream in = new DataInputStream(file);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeLong(in.readLong()); // magic and version
    int count = in.readUnsignedShort();
    out.writeShort(count);
    for (int i = 1; i < count; i++) {
      int kind = in.readUnsignedByte();
      out.writeByte(kind);
      if (kind == UTF8) {
        out.writeUTF(in.readUTF().replace(OUR_LOGGER.replace('.', '/'), LOGGER.replace('.', '/')));
      } else {
        out.write(in.readNBytes(length(kind)));
        i += kind == LONG || kind == DOUBLE ? 1 : 0; // They count as two constants.
      }
    }
    in.transferTo(out);
    return bytes.toByteArray();
  }

  /** Returns the length of a constant in bytes, without its kind. */
  private static int length(int kind) throws IOException {
    return switch (kind) {
      case 7, 8, 16, 19, 20 -> 2; // class, string, method type, module, package
      case 15 -> 3; // method handle
      case 3, 4, 9, 10, 11, 12, 17, 18 -> 4; // number, member, name and type, dynamic
      case LONG, DOUBLE -> 8;
      default -> throw new IOException("a class file has an unknown constant of kind " + kind);
    };
  }
}
