package dev.sluice.spark.resolve;

import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.internal.config.package$;
import org.apache.spark.io.CompressionCodec$;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import scala.Option;
import scala.Some;

/** Map outputs as Spark's resolver lays them out in the executor's local directories. */
public final class ResolverMapOutputFiles implements MapOutputFiles {
  private static final Option<String[]> LOCAL_DIRS = Option.empty();

  private final IndexShuffleBlockResolver resolver;
  private final ChecksumAlgorithm checksums;
  private final Option<String[]> directories;

  /**
   * @param directories the executor's local ones, as its resolver has them
   */
  public ResolverMapOutputFiles(
      SparkConf conf, IndexShuffleBlockResolver resolver, String[] directories) {
    this.resolver = resolver;
    this.directories = new Some<>(directories);
    this.checksums = checksumsMatchFiles(conf) ? algorithm(conf) : ChecksumAlgorithm.NONE;
  }

  @Override
  public Files find(int shuffleId, long mapId) {
    Path index = resolver.getIndexFile(shuffleId, mapId, LOCAL_DIRS).toPath();
    if (!java.nio.file.Files.exists(index)) {
      // Also where a shuffle data plugin keeps map outputs elsewhere.
      return null;
    }
    Path data = resolver.getDataFile(shuffleId, mapId).toPath();
    Path checksumFile = checksumFile(shuffleId, mapId);
    return new Files(
        data, index, checksumFile, checksumFile == null ? ChecksumAlgorithm.NONE : checksums);
  }

  /** Of given directories Spark makes none of the folders that it names. */
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

  private Path checksumFile(int shuffleId, long mapId) {
    if (checksums == ChecksumAlgorithm.NONE) {
      return null;
    }
    Path file = checksumFile(shuffleId, mapId, LOCAL_DIRS);
    return java.nio.file.Files.exists(file) ? file : null;
  }

  /**
   * Whether Spark's checksums are those of the files' bytes. Its serialized writer computes them
   * over what it spills. A merge of several spills that copies bytes leaves them right, but one
   * that decodes and encodes them again does not: so it is with encrypted files (each stream has
   * its own initialization vector), with the fast merge switched off, and with a codec whose
   * streams cannot be concatenated. For Spark they are a means of diagnosis only; here they decide.
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
