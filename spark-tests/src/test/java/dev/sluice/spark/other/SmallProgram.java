// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.other;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.tools.ToolProvider;

/** Program of a test in a class {@code Program} that also runs on Java 17. */
public final class SmallProgram {
  private SmallProgram() {}

  /** Compiles the source with the class path of this test, into a class file of the folder. */
  public static void compile(String source, Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("Program.java"), source);
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "--release",
                "17",
                "-proc:none",
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                folder.toString(),
                file.toString());
    assertThat(status).isZero();
  }
}
