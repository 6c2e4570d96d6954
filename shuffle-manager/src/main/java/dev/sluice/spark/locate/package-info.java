/**
 * Locations of map outputs: the driver's directory, and the copies of it on executors.
 *
 * <p>An executor's {@link Publisher} sends new locations to the driver in batches. {@link
 * RpcDriverChannel} sends encoded {@link DirectoryMessage}s over Spark's RPC. On the driver, {@link
 * DirectoryEndpoint} passes them to the {@link LocationDirectory}. It has a {@link
 * PublishedShuffle} with a {@link LocationLog} for each shuffle, and an {@link ExecutorTable}.
 *
 * <p>Readers ask a {@link Locator}. Its implementation {@link LocatorClient} has a {@link
 * ShuffleTable} for each shuffle. A {@link DirectoryClient} fetches the shuffle's log from the
 * driver, large ones by {@link Broadcasts}, into its {@link LocationTable}. The peer's block server
 * is asked for locations that the log lacks. {@link AwayNodes} and {@link UnresponsiveNodes} keep
 * track of node daemons that do not answer.
 *
 * <p>Nothing here decides which executor has a block: MapStatus does. Blocks and partition tables
 * are not READ here either.
 */
package dev.sluice.spark.locate;
