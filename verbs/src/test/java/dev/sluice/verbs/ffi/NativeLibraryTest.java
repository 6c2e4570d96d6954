// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.ProviderUnavailableException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A library that cannot be used reports the reason and the remedy. */
class NativeLibraryTest {
  /** Tries to load a library and prints the result. */
  static final class Loader {
    private Loader() {}

    public static void main(String[] arguments) {
      try {
        new NativeLibrary("libm.so.6", "the C library").require();
        System.out.println("loaded");
      } catch (ProviderUnavailableException e) {
        System.out.println(e.getMessage());
      }
    }
  }

  @Test
  void aLibraryThatIsThereHasItsSymbols() throws Exception {
    NativeLibrary maths = new NativeLibrary("libm.so.6", "the C library");
    maths.require();
    assertThat(maths.symbol("cos").address()).isNotZero();
    assertThatThrownBy(() -> maths.symbol("no_such_function"))
        .isInstanceOf(UnsatisfiedLinkError.class)
        .hasMessage("libm.so.6 on this machine is too old: it lacks no_such_function");
  }

  @Test
  void aMissingLibraryNamesThePackages() {
    assertThatThrownBy(() -> new NativeLibrary("libnone.so.1", "none-utils").require())
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessageStartingWith("libnone.so.1 cannot be loaded: install none-utils (");
  }

  @Test
  void aJvmThatDeniesNativeAccessNamesTheOption() throws Exception {
    // JDK 21 denies it to all modules but those that the option names: JEP 442.
    String deny =
        Runtime.version().feature() >= 24
            ? "--illegal-native-access=deny"
            : "--enable-native-access=java.xml";
    assertThat(load(deny))
        .isEqualTo(
            "native access is not allowed: start the JVM with"
                + " --enable-native-access=ALL-UNNAMED");
    assertThat(load(deny, "--enable-native-access=ALL-UNNAMED")).isEqualTo("loaded");
  }

  private static String load(String... options) throws Exception {
    ProcessBuilder java =
        new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    java.command().addAll(List.of(options));
    java.command()
        .addAll(List.of("-cp", System.getProperty("java.class.path"), Loader.class.getName()));
    Process process = java.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try {
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      return output.strip();
    } finally {
      process.destroyForcibly();
    }
  }
}
