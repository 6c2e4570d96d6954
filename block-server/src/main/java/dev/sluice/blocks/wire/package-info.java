/**
 * Data formats that processes have to agree on: messages and how they are encoded, and locations
 * and partition tables of map outputs.
 *
 * <p>A message is a record. {@link dev.sluice.blocks.wire.MessageCodec} encodes it into a frame of
 * at most 16 MiB, which starts with the version of the encoding. {@link
 * dev.sluice.blocks.wire.RecordCodec} derives the rest from the record's components. Decoding is
 * strict: bytes from the network become a message or a {@link
 * dev.sluice.blocks.wire.MessageException}.
 *
 * <p>There are three protocols. {@link dev.sluice.blocks.wire.ControlMessages} go from peers to
 * block servers: queue pairs, locations, staging. {@link dev.sluice.blocks.wire.NodeMessages} go
 * from executors to the node daemon, {@link dev.sluice.blocks.wire.LifetimeMessages} from the
 * driver to the nodes. A node daemon admits processes that have the {@link
 * dev.sluice.blocks.wire.ApplicationSecret}.
 *
 * <p>Partition tables are READ, not sent. A {@link dev.sluice.blocks.wire.TableSegment} has a
 * {@link dev.sluice.blocks.wire.MapOutputHeader} for each slot, and {@link
 * dev.sluice.blocks.wire.TableEntry entries} by partition. A {@link
 * dev.sluice.blocks.wire.MapOutputLocation} names a segment and a slot.
 */
package dev.sluice.blocks.wire;
