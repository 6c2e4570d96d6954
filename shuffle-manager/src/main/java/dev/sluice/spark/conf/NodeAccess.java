// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.conf;

import dev.sluice.blocks.handover.NodeClient;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Way of an executor to its node daemon. {@link SluiceConf#node} makes it; the executor's {@code
 * NodeHandOver} uses it.
 *
 * @param incarnation incarnation of the application, which its driver makes anew in each run
 * @param socket Unix domain socket of the daemon
 * @param user user of the daemon, besides the executor's own
 * @param limits limits of the wait for the daemon
 */
public record NodeAccess(
    String incarnation, Path socket, Optional<String> user, NodeClient.Limits limits) {}
