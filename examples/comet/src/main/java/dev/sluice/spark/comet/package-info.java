/**
 * Shuffle manager for DataFusion Comet, whose exchanges are READ.
 *
 * <p>{@link dev.sluice.spark.comet.CometRdmaShuffleManager} takes Comet's writers as they are. Its
 * reader, {@link dev.sluice.spark.comet.CometRdmaReader}, works as Comet's, but asks {@link
 * dev.sluice.spark.RdmaShuffle} for the blocks.
 */
package dev.sluice.spark.comet;
