// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes.Name;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/** Locates the drop-in jar that the build made. */
final class DropInJar {
  private DropInJar() {}

  static Path path() {
    return Path.of(System.getProperty("sluice.jar"));
  }

  /** Returns the version that the jar's manifest tells. */
  static String version() throws IOException {
    try (JarFile jar = new JarFile(path().toFile())) {
      return jar.getManifest().getMainAttributes().getValue(Name.IMPLEMENTATION_VERSION);
    }
  }

  /** Makes a copy of one of Sluice's jars, with another version in its manifest. */
  static Path copy(Path source, Path target, String version) throws IOException {
    Files.copy(source, target);
    Manifest manifest;
    try (JarFile jar = new JarFile(source.toFile())) {
      manifest = jar.getManifest();
    }
    manifest.getMainAttributes().put(Name.IMPLEMENTATION_VERSION, version);
    try (FileSystem files = FileSystems.newFileSystem(target);
        OutputStream out = Files.newOutputStream(files.getPath(JarFile.MANIFEST_NAME))) {
      manifest.write(out);
    }
    return target;
  }

  /** The directory of the whole project. */
  static Path project() {
    return path().getParent().getParent().getParent();
  }
}
