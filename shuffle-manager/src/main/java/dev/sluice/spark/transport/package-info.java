/**
 * Interface of reading to the transfer engine and the control channel ({@link ReadTransport}), its
 * implementation ({@link EndpointTransport}), and the reasons for which a block falls back to
 * Spark's own transport ({@link FallbackReason}).
 */
package dev.sluice.spark.transport;
