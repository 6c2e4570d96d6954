/**
 * What peers have to agree on: the messages to each other's block servers and how they are encoded,
 * where a map output is, its partition table and checksums.
 *
 * <p>A message is a record; {@link dev.sluice.blocks.wire.MessageCodec} turns it into bytes. One
 * fits into a frame of 16 MiB, starts with the version of the encoding, and is decoded strictly:
 * bytes from the network end in a message or in a {@link dev.sluice.blocks.wire.MessageException}.
 */
package dev.sluice.blocks.wire;
