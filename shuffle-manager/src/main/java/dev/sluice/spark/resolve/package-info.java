/**
 * Spark's block resolver with knowledge of the registered map outputs. {@link SluiceBlockResolver}
 * serves blocks to local tasks, as {@link RegisteredManagedBuffer}s, and to Spark's transport.
 * {@link ResolverMapOutputFiles} tells the registry where Spark keeps the files of a map output.
 */
package dev.sluice.spark.resolve;
