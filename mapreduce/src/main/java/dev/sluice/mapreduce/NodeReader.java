// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.io.Closeable;
import java.io.InputStream;
import java.util.List;
import java.util.Map;

/**
 * READs one reduce task's partitions of map outputs from the nodes' block servers. {@link
 * InstalledReader} opens it, and {@link RdmaShuffle} closes it. The fetchers' threads call it; each
 * call waits for the node, within the time that the settings allow.
 */
public interface NodeReader extends Closeable {
  /**
   * Opens a reader. The installation of the node daemon has one implementation, as a service of
   * {@link java.util.ServiceLoader}.
   */
  interface Factory {
    /**
     * @param job name of the job at the nodes
     * @param secret secret of the job
     * @param reader name of the reduce attempt, unique in the job
     * @param settings values of keys that begin with {@link InstalledReader#PREFIX}
     * @throws NodeReadException if this machine cannot READ, with the reason
     * @throws IllegalArgumentException for a setting that is not allowed
     */
    NodeReader open(
        String job, String secret, String reader, int partition, Map<String, String> settings)
        throws NodeReadException;
  }

  /**
   * Locates map outputs at a node, which registers them first. The fetcher may ask again for those
   * that fail with {@link HttpReason#STAGING}: the node did not have them in time.
   *
   * @param host host name or address, as map completion events have it
   * @param mapIds ids of map attempts ({@link MapIds})
   * @return one element for each id, in their order
   * @throws NodeReadException if the node cannot be asked
   */
  List<RemotePartition> locate(String host, long[] mapIds)
      throws NodeReadException, InterruptedException;

  /**
   * Opens a stream of the bytes of partitions at one node, back to back, as they lie in the map
   * outputs' files. The stream READs ahead and throws {@link NodeReadException}. For one thread,
   * which closes it.
   *
   * @param wanted partitions that {@link #locate} returned without a failure
   */
  InputStream open(List<RemotePartition> wanted);

  /** Ends all READs. Idempotent. */
  @Override
  void close();
}
