// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.MessageException;
import dev.sluice.blocks.wire.MessageType;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Failure;
import dev.sluice.spark.locate.DirectoryMessage.Find;
import dev.sluice.spark.locate.DirectoryMessage.Found;
import dev.sluice.spark.locate.DirectoryMessage.Kept;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.OtherVersion;
import dev.sluice.spark.locate.DirectoryMessage.Over;
import dev.sluice.spark.locate.DirectoryMessage.PeerFallbacks;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.ReadTimes;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.DirectoryMessage.Silent;
import dev.sluice.spark.locate.DirectoryMessage.Started;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import java.util.List;

/**
 * Encodes the directory's messages as bytes, which are all that Spark's RPC carries. Its serializer
 * captures the class loader before the jars of {@code --jars} are added, so a message of our own
 * class would end in ClassNotFoundException. {@link RpcDriverChannel} encodes questions on
 * executors, and {@link DirectoryEndpoint} answers on the driver. Ids and their classes never
 * change. Any thread may call it.
 */
public final class DirectoryCodec {
  /** The block server's messages have smaller ids, those of node daemons ids from 64 on. */
  private static final int FIRST_ID = 32;

  private static final List<MessageType<?>> TYPES =
      List.of(
          new MessageType<>(FIRST_ID, Ack.class),
          new MessageType<>(FIRST_ID + 1, Publish.class),
          new MessageType<>(FIRST_ID + 2, Locate.class),
          new MessageType<>(FIRST_ID + 3, Table.class),
          new MessageType<>(FIRST_ID + 4, Report.class),
          new MessageType<>(FIRST_ID + 5, Failure.class),
          new MessageType<>(FIRST_ID + 6, Over.class),
          new MessageType<>(FIRST_ID + 7, Find.class),
          new MessageType<>(FIRST_ID + 8, Found.class),
          new MessageType<>(FIRST_ID + 9, Silent.class),
          new MessageType<>(FIRST_ID + 10, Kept.class),
          new MessageType<>(FIRST_ID + 11, OtherVersion.class),
          new MessageType<>(FIRST_ID + 12, Started.class),
          new MessageType<>(FIRST_ID + 13, ReadTimes.class),
          new MessageType<>(FIRST_ID + 14, PeerFallbacks.class));

  private final MessageCodec codec = new MessageCodec(TYPES);

  public byte[] encode(DirectoryMessage message) throws MessageException {
    return codec.encode(message);
  }

  /**
   * @throws MessageException for bytes that are not a message
   */
  public DirectoryMessage decode(byte[] bytes) throws MessageException {
    return (DirectoryMessage) codec.decode(bytes);
  }
}
