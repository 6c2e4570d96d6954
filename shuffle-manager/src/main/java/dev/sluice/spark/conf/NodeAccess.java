package dev.sluice.spark.conf;

import java.nio.file.Path;
import java.time.Duration;

/**
 * How an executor reaches the block server of its node.
 *
 * @param incarnation of the application: made by its driver, and different in each of its runs
 * @param socket the server's Unix domain socket
 * @param timeout of one request
 */
public record NodeAccess(String incarnation, Path socket, Duration timeout) {}
