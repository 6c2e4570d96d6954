// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.qualify;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import com.ning.compress.lzf.LZFInputStream;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import net.jpountz.lz4.LZ4BlockInputStream;
import org.xerial.snappy.SnappyInputStream;

/**
 * Compression of a file of an event log, by its first bytes. The libraries are Spark's own, and a
 * nested class of each is loaded only if a file needs it. {@link EventReader} opens files on the
 * main thread, and closes them.
 */
enum Codec {
  PLAIN("", ""),
  ZSTD("zstd-jni", "(\265/\375"),
  LZ4("lz4-java", "LZ4Block"),
  SNAPPY("snappy-java", "\202SNAPPY\0"),
  LZF("compress-lzf", "ZV");

  private static final int MOST_HEAD_BYTES = 8;
  private static final int BUFFER_BYTES = 1 << 16;

  private final String library;
  private final String head;

  /**
   * @param library name of the library's jar, without its version
   * @param head first bytes of a file, one a character
   */
  Codec(String library, String head) {
    this.library = library;
    this.head = head;
  }

  /**
   * Opens a file.
   *
   * @throws IOException also if a library is missing; the message then has a remedy
   */
  static InputStream open(Path file) throws IOException {
    InputStream in = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES);
    try {
      in.mark(MOST_HEAD_BYTES);
      String head = new String(in.readNBytes(MOST_HEAD_BYTES), ISO_8859_1);
      in.reset();
      return of(head).decompressed(in, file);
    } catch (IOException e) {
      in.close();
      throw e;
    }
  }

  private static Codec of(String head) {
    return Arrays.stream(values())
        .filter(codec -> codec != PLAIN && head.startsWith(codec.head))
        .findFirst()
        .orElse(PLAIN);
  }

  private InputStream decompressed(InputStream in, Path file) throws IOException {
    try {
      return switch (this) {
        case PLAIN -> in;
        case ZSTD -> Zstd.decompressed(in);
        case LZ4 -> Lz4.decompressed(in);
        case SNAPPY -> Snappy.decompressed(in);
        case LZF -> Lzf.decompressed(in);
      };
    } catch (LinkageError e) {
      throw new IOException(
          "%s is compressed by %s, and %s".formatted(file, lowerCase(), missing(library, remedy())),
          e);
    }
  }

  /** Returns a message about a library that is not there. */
  static String missing(String library, String remedy) {
    return "the jar %s-*.jar is missing or cannot be used: set SPARK_HOME".formatted(library)
        + " to a folder of Spark whose jars/ has it"
        + remedy;
  }

  /** Only zstd has a command that reads the streams of Spark. */
  private String remedy() {
    return this == ZSTD
        ? ", or decompress the log by zstd -d"
        : ", or log without compression (spark.eventLog.compress=false)";
  }

  private String lowerCase() {
    return name().toLowerCase(Locale.ROOT);
  }

  private static final class Zstd {
    static InputStream decompressed(InputStream in) throws IOException {
      // An application that runs has not ended its last frame.
      return new ZstdInputStreamNoFinalizer(in).setContinuous(true);
    }
  }

  private static final class Lz4 {
    @SuppressWarnings("deprecation") // lz4-java 1.8 of Spark 4.0 has no builder
    static InputStream decompressed(InputStream in) {
      return new LZ4BlockInputStream(in, false);
    }
  }

  private static final class Snappy {
    static InputStream decompressed(InputStream in) throws IOException {
      return new SnappyInputStream(in);
    }
  }

  private static final class Lzf {
    static InputStream decompressed(InputStream in) throws IOException {
      return new LZFInputStream(in);
    }
  }
}
