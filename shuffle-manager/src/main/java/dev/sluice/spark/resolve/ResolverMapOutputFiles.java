// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.resolve;

import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.internal.config.package$;
import org.apache.spark.io.CompressionCodec$;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.jspecify.annotations.Nullable;
import scala.Option;
import scala.Some;

/**
 * Map outputs as Spark's resolver lays them out in the executor's local directories. {@code
 * SluiceShuffle} makes it when the executor's runtime starts. {@link #find} may block on a disk:
 * the registry's opener threads, map tasks and hand-overs call it. {@link #paths} touches no disk,
 * so any thread calls it. There is no lock.
 */
public final class ResolverMapOutputFiles implements MapOutputFiles {
  /** Stands for the resolver's own directories, in which it makes missing folders. */
  private static final Option<String[]> LOCAL_DIRS = Option.empty();

  private final IndexShuffleBlockResolver resolver;
  private final ChecksumAlgorithm checksums;
  private final Option<String[]> directories;

  /**
   * @param directories local directories of the executor, as its resolver has them
   */
  public ResolverMapOutputFiles(
      SparkConf conf, IndexShuffleBlockResolver resolver, String[] directories) {
    this.resolver = resolver;
    this.directories = new Some<>(directories);
    this.checksums = checksumsMatchFiles(conf) ? algorithm(conf) : ChecksumAlgorithm.NONE;
  }

  @Override
  public @Nullable Files find(int shuffleId, long mapId) {
    Path index = resolver.getIndexFile(shuffleId, mapId, LOCAL_DIRS).toPath();
    if (!java.nio.file.Files.exists(index)) {
      // Happens also if a shuffle data plugin keeps map outputs elsewhere.
      return null;
    }
    Path data = resolver.getDataFile(shuffleId, mapId).toPath();
    Path checksumFile = checksumFile(shuffleId, mapId);
    return new Files(
        data, index, checksumFile, checksumFile == null ? ChecksumAlgorithm.NONE : checksums);
  }

  /** Returns the paths. Spark makes no folders in directories that are passed to it. */
  @Override
  public List<Path> paths(int shuffleId, long mapId) {
    Path data = resolver.getDataFile(shuffleId, mapId, directories).toPath();
    Path index = resolver.getIndexFile(shuffleId, mapId, directories).toPath();
    return checksums == ChecksumAlgorithm.NONE
        ? List.of(data, index)
        : List.of(data, index, checksumFile(shuffleId, mapId, directories));
  }

  private Path checksumFile(int shuffleId, long mapId, Option<String[]> among) {
    return resolver.getChecksumFile(shuffleId, mapId, checksums.name(), among).toPath();
  }

  private @Nullable Path checksumFile(int shuffleId, long mapId) {
    if (checksums == ChecksumAlgorithm.NONE) {
      return null;
    }
    Path file = checksumFile(shuffleId, mapId, LOCAL_DIRS);
    return java.nio.file.Files.exists(file) ? file : null;
  }

  /**
   * Returns true if Spark's checksums are those of the files' bytes. Spark's serialized writer
   * computes them over its spills. A merge of several spills that copies bytes keeps them right,
   * but one that decodes and encodes the bytes again does not. This happens for encrypted files
   * (each stream has its own initialization vector), if the fast merge is switched off, and for a
   * codec whose streams cannot be concatenated. Spark uses the checksums for diagnosis only; here
   * they decide.
   */
  static boolean checksumsMatchFiles(SparkConf conf) {
    package$ config = package$.MODULE$;
    return isSet(conf.get(config.SHUFFLE_CHECKSUM_ENABLED()))
        && !isSet(conf.get(config.IO_ENCRYPTION_ENABLED()))
        && isSet(conf.get(config.SHUFFLE_UNSAFE_FAST_MERGE_ENABLE()))
        && (!isSet(conf.get(config.SHUFFLE_COMPRESS())) || concatenates(conf));
  }

  private static boolean isSet(Object value) {
    return Boolean.TRUE.equals(value);
  }

  private static boolean concatenates(SparkConf conf) {
    CompressionCodec$ codecs = CompressionCodec$.MODULE$;
    return codecs.supportsConcatenationOfSerializedStreams(codecs.createCodec(conf));
  }

  private static ChecksumAlgorithm algorithm(SparkConf conf) {
    String name = conf.get(package$.MODULE$.SHUFFLE_CHECKSUM_ALGORITHM());
    return Arrays.stream(ChecksumAlgorithm.values())
        .filter(algorithm -> algorithm.name().equals(name))
        .findAny()
        .orElse(ChecksumAlgorithm.NONE);
  }
}
