// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program in README.md compiles, and READs on a device. */
class ReadmeTest {
  private static final Path README =
      Path.of(System.getProperty("sluice.basedir", "."), "README.md");

  @TempDir private Path directory;

  @BeforeEach
  void compile() throws Exception {
    Matcher code =
        Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(README));
    assertThat(code.find()).isTrue();
    assumeTrue(
        Runtime.version().feature() >= 22,
        "JDK 21 compiles against the foreign function API as a preview only");
    String source = code.group(1);
    JavaFileObject file =
        new SimpleJavaFileObject(
            URI.create("string:///ReadExample.java"), JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return source;
          }
        };
    StringWriter messages = new StringWriter();
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<String> options =
        List.of("-d", directory.toString(), "-cp", System.getProperty("java.class.path"));
    boolean compiled = compiler.getTask(messages, null, null, options, null, List.of(file)).call();
    assertThat(compiled).as(messages.toString()).isTrue();
  }

  @Test
  void theProgramCompiles() {
    assertThat(directory.resolve("ReadExample.class")).exists();
  }

  @Test
  @NeedsRdmaDevice
  void theProgramReads() throws Exception {
    PrintStream console = System.out;
    ByteArrayOutputStream shown = new ByteArrayOutputStream();
    System.setOut(new PrintStream(shown));
    try (URLClassLoader loader = new URLClassLoader(new URL[] {directory.toUri().toURL()})) {
      loader
          .loadClass("ReadExample")
          .getMethod("main", String[].class)
          .invoke(null, (Object) new String[0]);
    } finally {
      System.setOut(console);
    }
    assertThat(shown.toString()).isEqualToIgnoringNewLines("success: Hello, RDMA");
  }
}
