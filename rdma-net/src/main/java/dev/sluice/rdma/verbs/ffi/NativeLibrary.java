package dev.sluice.rdma.verbs.ffi;

import dev.sluice.rdma.ProviderUnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;

/**
 * A shared library, loaded when it is first needed and never unloaded. Any thread.
 *
 * <p>It is found by its soname: the name without a version belongs to development packages.
 */
public final class NativeLibrary {
  /** The C library, which the JVM itself has loaded. */
  public static final NativeLibrary LIBC = new NativeLibrary("libc", "the C library");

  private static final String ACCESS_FLAG = "--enable-native-access=ALL-UNNAMED";

  private final String soname;
  private final String packages;
  private SymbolLookup symbols;

  /**
   * @param soname such as {@code libibverbs.so.1}
   * @param packages what to install where it is missing, in words
   */
  public NativeLibrary(String soname, String packages) {
    this.soname = soname;
    this.packages = packages;
  }

  /**
   * Loads the library unless it is loaded.
   *
   * @throws ProviderUnavailableException when it is not installed or native access is not allowed,
   *     with what to do
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

  /**
   * @throws UnsatisfiedLinkError when this version of the library does not have it
   */
  MemorySegment symbol(String name) {
    return symbols()
        .find(name)
        .orElseThrow(
            () -> new UnsatisfiedLinkError(soname + " of this machine is too old to have " + name));
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
