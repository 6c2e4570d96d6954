/**
 * What peers say to each other's block servers, and how it is encoded.
 *
 * <p>A message is a record; {@link dev.sluice.blocks.message.MessageCodec} turns it into bytes. One
 * fits into a frame of 16 MiB, starts with the version of the encoding, and is decoded strictly:
 * bytes from the network end in a message or in a {@link
 * dev.sluice.blocks.message.MessageException}.
 */
package dev.sluice.blocks.message;
