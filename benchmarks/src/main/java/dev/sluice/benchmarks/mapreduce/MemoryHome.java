// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.mapreduce;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.apache.hadoop.mapred.JobConf;

/**
 * An installation in which reduce tasks find {@link MemoryReader} in place of Sluice's reader.
 * {@link CopyCommand} makes it on its thread. Immutable.
 *
 * <p>It names the classes of the reader and does not use them: the plug-in, which they need, is not
 * on the class path of the command.
 *
 * @param home folder of the installation
 */
record MemoryHome(Path home) {
  private static final String READER = "dev.sluice.benchmarks.mapreduce.MemoryReader";
  private static final String FACTORY = READER + "$Factory";
  private static final String SERVICE = "dev.sluice.mapreduce.NodeReader$Factory";

  /**
   * Writes the installation.
   *
   * @param folders folders of the map outputs, in the order of their numbers
   */
  void write(List<Path> folders) throws IOException {
    Path jar = Files.createDirectories(home.resolve("jars")).resolve("memory-reader.jar");
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream entries = new JarOutputStream(file)) {
      for (String name : List.of(READER, FACTORY, READER + "$Partition")) {
        String path = name.replace('.', '/') + ".class";
        try (InputStream bytes =
            requireNonNull(MemoryHome.class.getClassLoader().getResourceAsStream(path), path)) {
          add(entries, path, bytes.readAllBytes());
        }
      }
      add(entries, "META-INF/services/" + SERVICE, FACTORY.getBytes(StandardCharsets.UTF_8));
    }
    Files.write(folders(), folders.stream().map(Path::toString).toList());
  }

  private static void add(JarOutputStream entries, String path, byte[] bytes) throws IOException {
    entries.putNextEntry(new JarEntry(path));
    entries.write(bytes);
    entries.closeEntry();
  }

  private Path folders() {
    return home.resolve("folders");
  }

  /** Adds the settings by which reduce tasks find the reader, and the reader the map outputs. */
  void configure(JobConf conf) {
    conf.set("sluice.mapreduce.home", home.toString());
    conf.set(MemoryReader.FOLDERS, folders().toString());
  }
}
