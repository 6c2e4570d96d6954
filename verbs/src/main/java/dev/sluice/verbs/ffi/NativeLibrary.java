// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import dev.sluice.verbs.ProviderUnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import org.jspecify.annotations.Nullable;

/**
 * A shared library that is loaded at its first use and never unloaded. Any thread.
 *
 * <p>It is found by its soname, because only development packages install a name without a version.
 */
public final class NativeLibrary {
  /** The C library, which the JVM has loaded. */
  public static final NativeLibrary LIBC = new NativeLibrary("libc", "the C library");

  private static final String ACCESS_FLAG = "--enable-native-access=ALL-UNNAMED";

  private final String soname;
  private final String packages;
  private @Nullable SymbolLookup symbols;

  /**
   * @param soname such as {@code libibverbs.so.1}
   * @param packages names of the packages to install if the library is missing, for the message
   */
  public NativeLibrary(String soname, String packages) {
    this.soname = soname;
    this.packages = packages;
  }

  /**
   * Loads the library if it is not loaded yet.
   *
   * @throws ProviderUnavailableException if the library is not installed or native access is not
   *     allowed; the message gives the remedy
   */
  public void require() throws ProviderUnavailableException {
    try {
      symbols();
    } catch (IllegalCallerException e) {
      throw new ProviderUnavailableException(
          "native access is not allowed: start the JVM with " + ACCESS_FLAG);
    } catch (IllegalArgumentException e) {
      throw new ProviderUnavailableException(
          soname + " cannot be loaded: install " + packages + " (" + e.getMessage() + ")");
    }
  }

  /** Throws UnsatisfiedLinkError if the installed version of the library lacks the symbol. */
  MemorySegment symbol(String name) {
    return symbols()
        .find(name)
        .orElseThrow(
            () ->
                new UnsatisfiedLinkError(soname + " on this machine is too old: it lacks " + name));
  }

  @SuppressWarnings("restricted")
  private synchronized SymbolLookup symbols() {
    if (symbols == null) {
      symbols =
          this == LIBC
              ? Linker.nativeLinker().defaultLookup()
              : SymbolLookup.libraryLookup(soname, Arena.global());
    }
    return symbols;
  }
}
