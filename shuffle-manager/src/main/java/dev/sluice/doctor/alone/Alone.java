package dev.sluice.doctor.alone;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;

/**
 * Starts the doctor from the drop-in jar alone: behind a class loader that has what Spark brings
 * elsewhere.
 */
public final class Alone {
  private Alone() {}

  /**
   * @param args as {@link CommandLine} has them, after the word doctor
   */
  public static void main(String[] args) throws ReflectiveOperationException, IOException {
    // Not closed: threads that hang may still need it.
    AloneLoader loader =
        new AloneLoader(Alone.class.getProtectionDomain().getCodeSource().getLocation());
    try {
      loader
          .loadClass("dev.sluice.doctor.alone.CommandLine")
          .getMethod("main", String[].class)
          .invoke(null, (Object) args);
    } catch (InvocationTargetException e) {
      throw new IllegalStateException(e.getCause());
    }
  }
}
